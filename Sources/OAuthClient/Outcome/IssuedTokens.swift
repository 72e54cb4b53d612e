/// What a good reply gave (RFC 6749 §5.1).
package struct IssuedTokens: Equatable, Sendable {
    package var accessToken: AccessToken
    package var tokenType: TokenType
    /// Counted from the start of the request. Zero has expired; nil is unknown.
    package var expiresIn: Duration?
    /// `expiresIn` is what the profile assumes, because the reply did not say.
    package var isLifetimeAssumed = false
    /// Nil keeps the refresh token that was sent; a new one replaces it at once (§6).
    package var refreshToken: RefreshToken?
    package var refreshExpiresIn: Duration?
    /// Nil is the scope that was asked for.
    package var scope: Scope?
    package var idToken: IDToken?
    /// What `idToken` says of its subject.
    package var identity: IDTokenIdentity?
    /// Members of the reply that the profile keeps.
    package var attributes: [String: String] = [:]
    /// Tokens of other chains in the same reply: logins of their own, never one row.
    package var others: [OtherTokens] = []
    /// What was odd and is worth an alarm.
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
    /// The reply held the next refresh token, and not in a form that can be sent: what is stored may be spent.
    package var hasLostSuccessor: Bool { anomalies.contains(.unusableRefreshToken) }
}

/// The tokens of another login that came in the same reply.
package struct OtherTokens: Equatable, Sendable {
    package var label: String
    package var tokens: IssuedTokens
}
