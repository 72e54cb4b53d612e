import FoundationEssentials
import HTTPTypes

/// The proofs of one attempt: which nonce and clock to use next, and what the replies taught.
struct ProofSession {
    private(set) var context: DPoPContext?
    /// Nonces that came with replies, by origin.
    private(set) var learned: [String: DPoPNonce] = [:]
    private(set) var clockOffset: Duration?

    init(_ context: DPoPContext?) {
        self.context = context
    }

    func nonce(for endpoint: EndpointURL) -> DPoPNonce? { context?.nonces[endpoint.origin] }

    /// A fresh proof, or none for a login without a key.
    func proof(for endpoint: EndpointURL, at now: Date) throws(OAuthValueError) -> DPoPProof? {
        guard let context else { return nil }
        let issuedAt = now.addingTimeInterval(context.clockOffset / .seconds(1))
        return try DPoPProof.sign(
            key: context.key, method: .post, url: endpoint.rawValue, issuedAt: issuedAt,
            nonce: context.nonces[endpoint.origin])
    }

    /// Takes the nonce and the clock from any reply, whatever its status (RFC 9449 §8.2).
    mutating func learn(from response: HTTPResponse, of endpoint: EndpointURL, startedAt: Date, repliedAt: Date) {
        if let nonce = DPoPNonce(in: response) {
            learned[endpoint.origin] = nonce
            context?.nonces[endpoint.origin] = nonce
        }
        guard let offset = ClockOffset.measured(response, startedAt: startedAt, repliedAt: repliedAt) else { return }
        clockOffset = offset
        context?.clockOffset = offset
    }
}
