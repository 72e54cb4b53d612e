package import VaultCrypto

/// What a provider said to a renewal that it refused: for operators, and for nothing else. The words are foreign, and may hold
/// anything but what was sent: no rendering shows them.
package struct RefusalRecord: Equatable, Sendable {
    package var at: Timestamp
    package var status: Int64?
    /// The OAuth error code.
    package var error: SecretBytes?
    package var message: SecretBytes?
    /// Why no reply came, by the name that the HTTP client has for it.
    package var failure: String?
    /// Where a redirect points.
    package var location: SecretBytes?

    package init(
        at: Timestamp, status: Int64?, error: SecretBytes?, message: SecretBytes?, failure: String? = nil,
        location: SecretBytes? = nil
    ) {
        self.failure = failure
        self.location = location
        self.at = at
        self.status = status
        self.error = error
        self.message = message
    }
}
