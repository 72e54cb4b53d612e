package import VaultCrypto

/// The key cell: the proof of possession for the login's tokens.
package struct KeyRecord: Equatable, Sendable {
    /// P-256 private key, 32 bytes (RFC 9449).
    package var dpopPrivateKey: SecretBytes
    /// The latest DPoP nonce of each origin.
    package var nonces: [String: String]

    package init(dpopPrivateKey: SecretBytes, nonces: [String: String] = [:]) {
        self.dpopPrivateKey = dpopPrivateKey
        self.nonces = nonces
    }
}
