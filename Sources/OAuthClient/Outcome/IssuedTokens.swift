/// The tokens of a successful reply (RFC 6749 §5.1).
package struct IssuedTokens: Equatable, Sendable {
    package var accessToken: AccessToken
    package var tokenType: TokenType
    /// Counted from the start of the request. Zero means already expired; nil means unknown.
    package var expiresIn: Duration?
    /// The profile's default is in `expiresIn`, because the reply did not say.
    package var isLifetimeAssumed = false
    /// Nil keeps the refresh token that was sent; a new one replaces it immediately (§6).
    package var refreshToken: RefreshToken?
    package var refreshExpiresIn: Duration?
    /// Nil means the scope that was requested.
    package var scope: Scope?
    package var idToken: IDToken?
    /// The subject that `idToken` names.
    package var identity: IDTokenIdentity?
    /// Members of the reply that the profile keeps.
    package var attributes: [String: String] = [:]
    /// Tokens of other chains in the same reply. Each becomes its own login, never part of this row.
    package var others: [OtherTokens] = []
    /// Oddities that are worth an alarm.
    package var anomalies: Set<ReplyAnomaly>

    package init(
        accessToken: AccessToken, tokenType: TokenType, expiresIn: Duration? = nil, refreshToken: RefreshToken? = nil,
        refreshExpiresIn: Duration? = nil, scope: Scope? = nil, idToken: IDToken? = nil,
        identity: IDTokenIdentity? = nil, anomalies: Set<ReplyAnomaly> = []
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
        self.refreshExpiresIn = refreshExpiresIn
        self.scope = scope
        self.idToken = idToken
        self.identity = identity
        self.anomalies = anomalies
    }
}

extension IssuedTokens {
    /// The reply held the next refresh token in a form that cannot be sent: the stored one may be spent.
    package var hasLostSuccessor: Bool { anomalies.contains(.unusableRefreshToken) }
}

/// The tokens of another login that came in the same reply.
package struct OtherTokens: Equatable, Sendable {
    package var label: String
    package var tokens: IssuedTokens
}
