/// The address to send the user's browser to (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 9449 §10).
package struct AuthorizationURL: Sendable {
    package var endpoint: EndpointURL
    package var clientID: ClientID
    package var state: AuthorizationState
    package var codeChallenge: CodeChallenge?
    package var redirectURI: String?
    package var scope: Scope?
    /// `dpop_jkt`: binds the code to the key that the login will use.
    package var keyThumbprint: JWKThumbprint?
    /// OpenID Connect's `login_hint`.
    package var loginHint: String?
    package var extraParameters: [FormParameter]
    package var scopeSeparator = " "
    /// The provider's own names for some parameters.
    package var names: [String: String] = [:]
    /// The APIs that the access tokens are for (RFC 8707 §2).
    package var resources: [String] = []
    /// The nonce that the id token must repeat.
    package var nonce: IDTokenNonce?
    /// OpenID Connect's `prompt`.
    package var prompt: String?
    /// `max_age`, in seconds.
    package var maximumAge: Int64?
    /// `acr_values`, the preferred one first.
    package var contextClasses: [String] = []
    /// A JSON array (RFC 9396 §2).
    package var authorizationDetails: String?

    package init(
        endpoint: EndpointURL, clientID: ClientID, state: AuthorizationState, codeChallenge: CodeChallenge?,
        redirectURI: String? = nil, scope: Scope? = nil, keyThumbprint: JWKThumbprint? = nil,
        loginHint: String? = nil, extraParameters: [FormParameter] = []
    ) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.state = state
        self.codeChallenge = codeChallenge
        self.redirectURI = redirectURI
        self.scope = scope
        self.keyThumbprint = keyThumbprint
        self.loginHint = loginHint
        self.extraParameters = extraParameters
    }
}
