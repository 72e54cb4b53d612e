/// One use of an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.5).
package struct CodeRequest: Sendable {
    package var code: AuthorizationCode
    package var codeVerifier: CodeVerifier?
    /// Exactly as in the authorization request; nil if it had none.
    package var redirectURI: String?
    package var dpop: DPoPContext?
    package var extraParameters: [FormParameter]
    /// The APIs that the access token is for (RFC 8707 §2). Empty for all that the grant allows.
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
