/// One use of a refresh token (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    package var refreshToken: RefreshToken
    /// Only to narrow the grant; nil requests the granted scope.
    package var scope: Scope?
    /// Whether a token of another scope is useless: then a rejected request is not repeated without `scope`.
    package var insistsOnScope = false
    package var dpop: DPoPContext?
    package var extraParameters: [FormParameter]
    /// The APIs that the access token is for (RFC 8707 §2). Empty for all that the grant allows.
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
