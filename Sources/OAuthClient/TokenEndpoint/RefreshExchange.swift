/// One use of a refresh token (RFC 6749 §6).
package struct RefreshExchange: Sendable {
    package var refreshToken: RefreshToken
    /// Only to narrow the grant; nil asks for what was granted.
    package var scope: Scope?
    /// Whether a token of another scope is of no use: then a request without `scope` does not follow a refused one.
    package var insistsOnScope = false
    package var dpop: DPoPContext?
    package var extraParameters: [FormParameter]
    /// Where the access token is to be used (RFC 8707 §2). Empty: wherever the grant says.
    package var resources: [String] = []

    package init(
        refreshToken: RefreshToken, scope: Scope? = nil, dpop: DPoPContext? = nil,
        extraParameters: [FormParameter] = []
    ) {
        self.refreshToken = refreshToken
        self.scope = scope
        self.dpop = dpop
        self.extraParameters = extraParameters
    }
}

/// One use of an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.5).
package struct CodeExchange: Sendable {
    package var code: AuthorizationCode
    package var codeVerifier: CodeVerifier?
    /// Exactly as in the authorization request; nil if there was none.
    package var redirectURI: String?
    package var dpop: DPoPContext?
    package var extraParameters: [FormParameter]
    /// Where the access token is to be used (RFC 8707 §2). Empty: wherever the grant says.
    package var resources: [String] = []

    package init(
        code: AuthorizationCode, codeVerifier: CodeVerifier?, redirectURI: String?, dpop: DPoPContext? = nil,
        extraParameters: [FormParameter] = []
    ) {
        self.code = code
        self.codeVerifier = codeVerifier
        self.redirectURI = redirectURI
        self.dpop = dpop
        self.extraParameters = extraParameters
    }
}
