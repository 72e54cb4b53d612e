package import FoundationEssentials
import HTTPTypes

/// Hands an authorization request to the server itself, so that the browser carries only a name for it (RFC 9126).
package struct PushedAuthorizationEndpoint: Sendable {
    package let endpoint: EndpointURL
    package let binding: ServerBinding
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    package init(
        endpoint: EndpointURL, binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date
    ) {
        self.endpoint = endpoint
        self.binding = binding
        self.transport = transport
        self.now = now
    }

    /// Pushes a request. It holds no token and no code, so it is also where a second client secret is tried.
    package func push(_ request: AuthorizationURL, dpop: DPoPContext? = nil) async -> PushedAuthorizationAttempt {
        var session = ProofSession(dpop)
        var requestsSent = 0
        var refused = 0
        for candidate in binding.candidates {
            let outcome = await push(request, candidate, &session, &requestsSent)
            if case .refused(.invalidClient, _) = outcome, refused + 1 < binding.candidates.count {
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
        _ request: AuthorizationURL, _ binding: ServerBinding, _ session: inout ProofSession, _ requestsSent: inout Int
    ) async -> PushedAuthorizationOutcome {
        var repeats = 0
        while true {
            let startedAt = now()
            let sentNonce = session.nonce(for: endpoint)
            guard let form = form(request, binding, session, at: startedAt), !Task.isCancelled else {
                let code: HTTPTransportError.Code = Task.isCancelled ? .cancelled : .refused
                return .failed(HTTPTransportError(.notSent, code), nil, retryAfter: nil)
            }
            requestsSent += 1
            switch await transport.sendToTheEnd(form, limits: binding.limits) {
            case .failure(let error): return .failed(error, nil, retryAfter: nil)
            case .reply(let reply):
                let repliedAt = now()
                session.learn(from: reply.response, of: endpoint, startedAt: startedAt, repliedAt: repliedAt)
                if repeats < ServerNonces.mostRepeats, session.context != nil,
                    reply.asksForNonce(after: sentNonce, binding.rules)
                {
                    repeats += 1
                    continue
                }
                return PushedAuthorizationOutcome(reply, binding, now: repliedAt)
            }
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

extension HTTPReply {
    /// Whether a request with a proof is to be repeated with the nonce that this reply brings (RFC 9449 §8).
    func asksForNonce(after sentNonce: DPoPNonce?, _ rules: ReplyRules) -> Bool {
        let status = response.status.code
        guard status == 400 || status == 401, let nonce = DPoPNonce(in: response), nonce != sentNonce,
            case .code(let code) = ReplyError(ReplyBody(self, format: .automatic), rules)
        else { return false }
        return code == .useDPoPNonce || code == .invalidDPoPProof
    }
}
