import FoundationEssentials
import HTTPTypes

/// Sends one client's requests to the endpoints of one server.
struct EndpointSender: Sendable {
    let binding: ServerBinding
    let transport: any HTTPTransport
    let now: @Sendable () -> Date

    /// A request with its repeats for a nonce.
    struct Sent {
        /// The reply to the last request; nil if nothing could be sent.
        let reply: EndpointReply?
        let repliedAt: Date
        let requestsSent: Int
    }

    /// The same sender with another of the client's secrets.
    func with(_ candidate: ServerBinding) -> EndpointSender {
        EndpointSender(binding: candidate, transport: transport, now: now)
    }

    /// Sends a request, and repeats it with each new nonce that the server asks for, at most `mostRepeats` times.
    ///
    /// - Parameter form: Makes each request; nil if it must not be sent.
    func send(
        to endpoint: EndpointURL, _ session: inout ProofSession, mostRepeats: Int,
        form: (ProofSession, Date) -> FormRequest?
    ) async -> Sent {
        var requestsSent = 0
        while true {
            let startedAt = now()
            let sentNonce = session.nonce(for: endpoint)
            guard requestsSent > 0 || !Task.isCancelled, let form = form(session, startedAt) else {
                return Sent(reply: nil, repliedAt: startedAt, requestsSent: requestsSent)
            }
            requestsSent += 1
            let (reply, repliedAt) = await send(form, to: endpoint, &session, startedAt: startedAt)
            if requestsSent <= mostRepeats, session.context != nil, reply.asksForNonce(after: sentNonce, binding.rules)
            {
                continue
            }
            return Sent(reply: reply, repliedAt: repliedAt, requestsSent: requestsSent)
        }
    }

    /// Sends one request, and takes nonce and clock from the reply, whatever its status (RFC 9449 §8.2).
    func send(
        _ form: FormRequest, to endpoint: EndpointURL, _ session: inout ProofSession, startedAt: Date,
        limits: HTTPLimits? = nil
    ) async -> (reply: EndpointReply, repliedAt: Date) {
        let reply = await transport.sendToTheEnd(
            form, limits: limits ?? binding.limits, showing: binding.certificate)
        let repliedAt = now()
        if case .reply(let reply) = reply {
            session.learn(from: reply.response, of: endpoint, startedAt: startedAt, repliedAt: repliedAt)
        }
        return (reply, repliedAt)
    }
}

extension EndpointReply {
    /// Whether a request with a proof must be repeated with the nonce of this reply (RFC 9449 §8).
    fileprivate func asksForNonce(after sentNonce: DPoPNonce?, _ rules: ReplyRules) -> Bool {
        guard case .reply(let reply) = self else { return false }
        let status = reply.response.status.code
        guard status == 400 || status == 401, let nonce = DPoPNonce(in: reply.response), nonce != sentNonce,
            case .code(let code) = ReplyError(ReplyBody(reply, format: .automatic), rules)
        else { return false }
        return code == .useDPoPNonce || code == .invalidDPoPProof
    }
}
