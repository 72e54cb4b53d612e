package import FoundationEssentials
import HTTPTypes

/// The revocation endpoint of one provider (RFC 7009).
package struct RevocationEndpoint: Sendable {
    /// Nil: the server has none, and every revocation says so.
    package let endpoint: EndpointURL?
    package let binding: ServerBinding
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    package init(
        endpoint: EndpointURL?, binding: ServerBinding, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) {
        self.endpoint = endpoint
        self.binding = binding
        self.transport = transport
        self.now = now
    }

    /// Asks for the end of a token. `dpop` is for servers that want a proof here too: it is repeated once if the
    /// server asks for a nonce.
    package func revoke(
        _ token: RevocableToken, dpop: DPoPContext? = nil, extraParameters: [FormParameter] = []
    ) async -> RevocationAttempt {
        guard let endpoint else { return RevocationAttempt(outcome: .unsupported, nonces: [:], requestsSent: 0) }
        var session = ProofSession(dpop)
        var requestsSent = 0
        while true {
            let startedAt = now()
            let sentNonce = session.nonce(for: endpoint)
            guard requestsSent > 0 || !Task.isCancelled,
                let form = form(endpoint, token, extraParameters, session, at: startedAt)
            else {
                return RevocationAttempt(
                    outcome: .tryLater(retryAfter: nil), nonces: session.learned, requestsSent: requestsSent)
            }
            requestsSent += 1
            let result = await transport.sendToTheEnd(form, limits: binding.limits)
            let repliedAt = now()
            if case .reply(let reply) = result {
                session.learn(from: reply.response, of: endpoint, startedAt: startedAt, repliedAt: repliedAt)
                if requestsSent == 1, dpop != nil, asksForNonce(reply, sentNonce) { continue }
            }
            return RevocationAttempt(
                outcome: RevocationOutcome(result, binding.rules, now: repliedAt), nonces: session.learned,
                requestsSent: requestsSent)
        }
    }

    private func form(
        _ endpoint: EndpointURL, _ token: RevocableToken, _ extra: [FormParameter], _ session: ProofSession,
        at now: Date
    ) -> FormRequest? {
        let parameters =
            switch token {
            case .refresh(let token):
                [FormParameter("token", token.reveal()), FormParameter("token_type_hint", "refresh_token")]
            case .access(let token):
                [FormParameter("token", token.reveal()), FormParameter("token_type_hint", "access_token")]
            }
        do throws(OAuthValueError) {
            let proof = try session.proof(for: endpoint, at: now)
            return FormRequest(endpoint, parameters, extra: extra, binding: binding, proof: proof)
        } catch {
            return nil
        }
    }

    private func asksForNonce(_ reply: HTTPReply, _ sentNonce: DPoPNonce?) -> Bool {
        let status = reply.response.status.code
        guard status == 400 || status == 401, let nonce = DPoPNonce(in: reply.response), nonce != sentNonce,
            case .code(let code) = ReplyError(ReplyBody(reply, format: .automatic), binding.rules)
        else { return false }
        return code == .useDPoPNonce || code == .invalidDPoPProof
    }
}
