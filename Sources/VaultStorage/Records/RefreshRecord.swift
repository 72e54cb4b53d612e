package import VaultCrypto

/// The refresh cell: what renews the access token.
package struct RefreshRecord: Equatable, Sendable {
    package var refreshToken: SecretBytes?
    package var refreshExpiresAt: Timestamp?
    package var idToken: SecretBytes?
    /// Another refresh token of the same chain, kept until the current one is proven.
    package var previousRefresh: SecretBytes?
    /// What the other token is to the current one.
    package var previousRole = PreviousRefreshRole.predecessor
    /// Since when it is kept.
    package var previousSince: Timestamp?
    /// Since when ``refreshToken`` may be spent without an open intent: its renewal succeeded and named a successor that
    /// cannot be sent, or was open in the backup that the vault was restored from.
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

/// What the other refresh token of a chain is to the current one.
package enum PreviousRefreshRole: UInt8, Hashable, Sendable, CaseIterable {
    /// It was spent for the current one.
    case predecessor = 1
    /// It came for the same predecessor as the current one did, with another reply.
    case sibling = 2
    /// It came for the current one, with a reply that was too late to be taken.
    case successor = 3
}
