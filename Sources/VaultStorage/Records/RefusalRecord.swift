package import VaultCrypto

/// What a provider said to a renewal that it refused: for operators, and for nothing else. The words are foreign, and may hold
/// anything but what was sent: no rendering shows them.
package struct RefusalRecord: Equatable, Sendable {
    package var at: Timestamp
    package var status: Int64?
    /// The OAuth error code.
    package var error: SecretBytes?
    package var message: SecretBytes?

    package init(at: Timestamp, status: Int64?, error: SecretBytes?, message: SecretBytes?) {
        self.at = at
        self.status = status
        self.error = error
        self.message = message
    }
}
