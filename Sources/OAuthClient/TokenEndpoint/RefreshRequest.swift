/// One use of a refresh token (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    package var refreshToken: RefreshToken
    /// Only to narrow the grant; nil asks for what was granted.
    package var scope: Scope?
    /// Whether a token of another scope is useless: then a refused request is not repeated without `scope`.
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
