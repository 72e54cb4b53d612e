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
    /// The first halves of hashes of the refresh tokens that this login has replaced, the newest first: a token that is
    /// put in by hand and has been spent is recognized.
    package private(set) var replacedTokens: [UInt64] = []

    package static var replacedLimit: Int { 16 }

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

extension RefreshRecord {
    /// Puts another token in the place of the current one.
    package mutating func replaceToken(with token: SecretBytes) {
        var replaced = replacedTokens
        if let refreshToken { replaced.insert(Self.mark(of: refreshToken), at: 0) }
        // Some servers give a token that they gave before.
        let current = Self.mark(of: token)
        replacedTokens = Array(replaced.filter { $0 != current }.prefix(Self.replacedLimit))
        refreshToken = token
    }

    /// Whether it is one of the tokens that were replaced last.
    package func hasReplaced(_ token: SecretBytes) -> Bool { replacedTokens.contains(Self.mark(of: token)) }

    /// The same record, with what the former one of the login knows of replaced tokens.
    package func keepingReplaced(of former: RefreshRecord?) -> RefreshRecord {
        guard let former, !former.replacedTokens.isEmpty else { return self }
        var record = self
        let current = refreshToken.map(Self.mark)
        record.replacedTokens = former.replacedTokens.filter { $0 != current }
        return record
    }

    /// Restores what is stored.
    mutating func readReplaced(_ tokens: [UInt64]) { replacedTokens = tokens }

    private static func mark(of token: SecretBytes) -> UInt64 {
        var hash = ContentHash()
        unsafe token.withUnsafeBytes { unsafe hash.add($0) }
        return hash.value.firstWord
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
