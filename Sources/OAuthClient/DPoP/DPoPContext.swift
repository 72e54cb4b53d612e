/// The inputs for a login's proofs.
package struct DPoPContext: Sendable {
    package var key: DPoPKey
    /// The latest nonce of each origin. Nonces of different servers are never mixed (RFC 9449 §8.2, §9).
    package var nonces: [String: DPoPNonce]
    /// How far the server's clock is ahead of ours. Used for `iat` only.
    package var clockOffset: Duration

    package init(key: DPoPKey, nonces: [String: DPoPNonce] = [:], clockOffset: Duration = .zero) {
        self.key = key
        self.nonces = nonces
        self.clockOffset = clockOffset
    }
}
