package import FoundationEssentials
import HTTPTypes

/// Sends an authorization request directly to the server, so that the browser carries only a reference to it (RFC
/// 9126).
package struct PushedAuthorizationEndpoint: Sendable {
    private let endpoint: EndpointURL
    private let sender: EndpointSender

    package init(
        endpoint: EndpointURL, binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date
    ) {
        self.endpoint = endpoint
        sender = EndpointSender(binding: binding, transport: transport, now: now)
    }

    /// Pushes a request. It carries no token and no code, so a second client secret can also be tried here.
    package func push(_ request: AuthorizationURL, dpop: DPoPContext? = nil) async -> PushedAuthorizationAttempt {
        let candidates = sender.binding.candidates
        var session = ProofSession(dpop)
        var requestsSent = 0
        var refused = 0
        for candidate in candidates {
            let outcome = await push(request, sender.with(candidate), &session, &requestsSent)
            if case .refused(.invalidClient, _) = outcome, refused + 1 < candidates.count {
                refused += 1
                continue
            }
            return PushedAuthorizationAttempt(
                outcome: outcome, nonces: session.learned, requestsSent: requestsSent, refusedSecrets: refused)
        }
        return PushedAuthorizationAttempt(
            outcome: .failed(nil, nil, retryAfter: nil), nonces: session.learned, requestsSent: requestsSent,
            refusedSecrets: refused)
    }

    private func push(
        _ request: AuthorizationURL, _ sender: EndpointSender, _ session: inout ProofSession, _ requestsSent: inout Int
    ) async -> PushedAuthorizationOutcome {
        let sent = await sender.send(to: endpoint, &session, mostRepeats: ServerNonces.mostRepeats) {
            Task.isCancelled ? nil : form(request, sender.binding, $0, at: $1)
        }
        requestsSent += sent.requestsSent
        switch sent.reply {
        case .reply(let reply): return PushedAuthorizationOutcome(reply, sender.binding, now: sent.repliedAt)
        case .failure(let error): return .failed(error, nil, retryAfter: nil)
        case nil:
            let code: HTTPTransportError.Code = Task.isCancelled ? .cancelled : .unsigned
            return .failed(HTTPTransportError(.notSent, code), nil, retryAfter: nil)
        }
    }

    private func form(
        _ request: AuthorizationURL, _ binding: ServerBinding, _ session: ProofSession, at now: Date
    ) -> FormRequest? {
        do throws(OAuthValueError) {
            let proof = try session.proof(for: endpoint, at: now)
            return try FormRequest(
                endpoint, request.parameters, extra: [], binding: binding, proof: proof,
                issuedAt: session.corrected(now))
        } catch {
            return nil
        }
    }
}

extension PushedAuthorizationOutcome {
    fileprivate init(_ reply: HTTPReply, _ binding: ServerBinding, now: Date) {
        let status = reply.response.status.code
        let body = ReplyBody(reply, format: .automatic)
        if status == 201 || status == 200, let uri = body["request_uri"].text, uri.utf8.count <= 2_048,
            uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            let lifetime = ReplyLifetime(body, LifetimeMember.access, startedAt: now.timeIntervalSince1970)
            self = .accepted(PushedAuthorization(requestURI: uri, expiresIn: lifetime.duration))
            return
        }
        let delay = RetryAfter.delay(in: reply.response, now: now)
        let error: OAuthErrorCode? = if case .code(let code) = ReplyError(body, binding.rules) { code } else { nil }
        let answer = ProviderAnswer(
            status: status, error: error, message: body["error_description"].text.map(ServerMessage.init),
            hiding: [binding.authentication.secret?.reveal()].compactMap(\.self))
        guard (400...499).contains(status), status != 429, let error else {
            self = .failed(nil, answer, retryAfter: delay)
            return
        }
        self = .refused(error, answer)
    }
}
