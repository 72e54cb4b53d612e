package import VaultCrypto

/// The refresh cell: the tokens that renew the access token.
package struct RefreshRecord: Equatable, Sendable {
    package var refreshToken: SecretBytes?
    package var refreshExpiresAt: Timestamp?
    package var idToken: SecretBytes?
    /// Another refresh token of the same chain, kept until the current one is proven.
    package var previousRefresh: SecretBytes?
    /// The relation of the other token to the current one.
    package var previousRole = PreviousRefreshRole.predecessor
    /// When the other token was first kept.
    package var previousSince: Timestamp?
    /// Since when ``refreshToken`` may be spent without an open intent. Either its renewal succeeded and named a
    /// successor that cannot be sent, or the renewal was open in the backup from which the vault was restored.
    package var doubtSince: Timestamp?

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

/// The relation of a chain's other refresh token to the current one.
package enum PreviousRefreshRole: UInt8, Hashable, Sendable, CaseIterable {
    /// The current token replaced it.
    case predecessor = 1
    /// It replaced the same predecessor as the current one, in another reply.
    case sibling = 2
    /// It replaces the current one, but its reply came too late to be accepted.
    case successor = 3
}
