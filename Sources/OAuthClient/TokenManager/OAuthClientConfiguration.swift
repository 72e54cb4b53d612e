/// One client registration at one authorization server.
public struct OAuthClientConfiguration: Sendable {
    /// Whether the tokens are bound to a key pair (RFC 9449).
    public enum KeyBinding: Sendable {
        case never
        /// A plain `Bearer` token in the reply is rejected.
        case required
    }

    public var clientID: ClientID
    public var authentication: ClientAuthentication
    public var tokenEndpoint: EndpointURL
    /// Nil if the server does not revoke.
    public var revocationEndpoint: EndpointURL?
    /// Exactly as in the authorization request.
    public var redirectURI: RedirectURI?
    public var keyBinding: KeyBinding
    public var limits: HTTPLimits
    /// The audience of `private_key_jwt` assertions: the issuer, where the server accepts it; nil for the token
    /// endpoint.
    public var assertionAudience: Issuer?

    public init(
        clientID: ClientID, authentication: ClientAuthentication = .none, tokenEndpoint: EndpointURL,
        revocationEndpoint: EndpointURL? = nil, redirectURI: RedirectURI? = nil, keyBinding: KeyBinding = .never,
        limits: HTTPLimits = .tokenEndpoint
    ) {
        self.clientID = clientID
        self.authentication = authentication
        self.tokenEndpoint = tokenEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.redirectURI = redirectURI
        self.keyBinding = keyBinding
        self.limits = limits
    }
}
