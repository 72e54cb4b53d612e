/// The result of a token request, errors included: an OAuth error is an answer, not a throw.
public enum TokenResponse: Sendable {
    case successfulToken(SuccessfulTokenResponse)
    /// The server answered with an OAuth error (RFC 6749 §5.2).
    case errorToken(ErrorTokenResponse)
    /// There was no usable answer.
    case error(OAuthFailure)
}

/// A successful reply (RFC 6749 §5.1).
public struct SuccessfulTokenResponse: Sendable {
    public let accessToken: AccessToken
    /// Counted from the start of the request. Zero means already expired; nil means unknown.
    public let expiresIn: Duration?
    /// Nil keeps the refresh token that was sent.
    public let refreshToken: RefreshToken?
    /// `Bearer` where the reply names none.
    public let tokenType: TokenType
    /// Nil means the scope that was requested.
    public let scope: Scope?
    public let idToken: IDToken?

    package init(_ tokens: IssuedTokens) {
        accessToken = tokens.accessToken
        expiresIn = tokens.expiresIn
        refreshToken = tokens.refreshToken
        tokenType = tokens.tokenType
        scope = tokens.scope
        idToken = tokens.idToken
    }
}
