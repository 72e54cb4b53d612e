package import VaultCrypto

/// A provider's answer to a renewal that it refused, for operators only. The text is the provider's and may contain
/// anything except what was sent, so no rendering shows it.
package struct RefusalRecord: Equatable, Sendable {
    package var at: Timestamp
    package var status: Int64?
    /// The OAuth error code.
    package var error: SecretBytes?
    package var message: SecretBytes?
    /// The HTTP client's name for the reason why no reply came.
    package var failure: String?
    /// The target of a redirect.
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
