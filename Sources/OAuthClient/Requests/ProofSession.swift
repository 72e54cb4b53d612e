import FoundationEssentials
import HTTPTypes

/// The proofs of one attempt: the next nonce and clock to use, and the values learned from replies.
struct ProofSession {
    private(set) var context: DPoPContext?
    /// Nonces from replies, by origin.
    private(set) var learned: [String: DPoPNonce] = [:]
    private(set) var clockOffset: Duration?

    init(_ context: DPoPContext?) {
        self.context = context
    }

    func nonce(for endpoint: EndpointURL) -> DPoPNonce? { context?.nonces[endpoint.origin] }

    mutating func use(_ nonce: DPoPNonce, for endpoint: EndpointURL) { context?.nonces[endpoint.origin] = nonce }

    /// Our clock, corrected by the server's known offset: only for `iat`.
    func corrected(_ now: Date) -> Date {
        now.addingTimeInterval((context?.clockOffset ?? clockOffset ?? .zero) / .seconds(1))
    }

    /// A fresh proof, or none for a login without a key.
    func proof(
        for endpoint: EndpointURL, method: HTTPRequest.Method = .post, at now: Date
    ) throws(OAuthValueError) -> DPoPProof? {
        guard let context else { return nil }
        return try DPoPProof.sign(
            key: context.key, method: method, url: endpoint.rawValue, issuedAt: corrected(now),
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
