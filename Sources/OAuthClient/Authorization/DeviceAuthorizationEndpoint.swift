package import FoundationEssentials
import HTTPTypes

/// The endpoint where a device without its own browser asks for codes (RFC 8628 §3.1).
package struct DeviceAuthorizationEndpoint: Sendable {
    private let endpoint: EndpointURL
    private let sender: EndpointSender

    package init(
        endpoint: EndpointURL, binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date
    ) {
        self.endpoint = endpoint
        sender = EndpointSender(binding: binding, transport: transport, now: now)
    }

    /// Asks for codes. The request carries no token and no code, so a second client secret can also be tried here.
    package func request(_ parameters: [FormParameter]) async -> DeviceAuthorizationAttempt {
        let candidates = sender.binding.candidates
        var refused = 0
        for candidate in candidates {
            let outcome = await request(parameters, sender.with(candidate))
            if case .refused(.invalidClient, _) = outcome, refused + 1 < candidates.count {
                refused += 1
                continue
            }
            return DeviceAuthorizationAttempt(outcome: outcome, refusedSecrets: refused)
        }
        return DeviceAuthorizationAttempt(outcome: .failed(nil, nil, retryAfter: nil), refusedSecrets: refused)
    }

    private func request(_ parameters: [FormParameter], _ sender: EndpointSender) async -> DeviceAuthorizationOutcome {
        var session = ProofSession(nil)
        let sent = await sender.send(to: endpoint, &session, mostRepeats: 0) { session, now in
            guard !Task.isCancelled else { return nil }
            return try? FormRequest(
                endpoint, parameters, extra: [], binding: sender.binding, proof: nil, issuedAt: session.corrected(now))
        }
        switch sent.reply {
        case .reply(let reply):
            let delay = RetryAfter.delay(in: reply.response, now: sent.repliedAt)
            return DeviceAuthorizationOutcome(reply, sender.binding, retryAfter: delay)
        case .failure(let error): return .failed(error, nil, retryAfter: nil)
        case nil:
            let code: HTTPTransportError.Code = Task.isCancelled ? .cancelled : .unsigned
            return .failed(HTTPTransportError(.notSent, code), nil, retryAfter: nil)
        }
    }
}
