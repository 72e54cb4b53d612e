package import VaultCrypto

/// The refresh cell: what renews the access token.
package struct RefreshRecord: Equatable, Sendable {
    package var refreshToken: SecretBytes?
    package var refreshExpiresAt: Timestamp?
    package var idToken: SecretBytes?
    /// The refresh token before this one, kept until the new pair is proven.
    package var previousRefresh: SecretBytes?

    package init(
        refreshToken: SecretBytes?, refreshExpiresAt: Timestamp? = nil, idToken: SecretBytes? = nil,
        previousRefresh: SecretBytes? = nil
    ) {
        self.refreshToken = refreshToken
        self.refreshExpiresAt = refreshExpiresAt
        self.idToken = idToken
        self.previousRefresh = previousRefresh
    }
}
