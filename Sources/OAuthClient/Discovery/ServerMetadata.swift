/// What an authorization server says of itself (RFC 8414 §2, OpenID Connect Discovery §3).
public struct ServerMetadata: Hashable, Sendable {
    public var issuer: Issuer
    public var tokenEndpoint: EndpointURL
    public var authorizationEndpoint: EndpointURL?
    public var revocationEndpoint: EndpointURL?
    public var introspectionEndpoint: EndpointURL?
    public var pushedAuthorizationRequestEndpoint: EndpointURL?
    /// Where devices ask for codes (RFC 8628 §4).
    public var deviceAuthorizationEndpoint: EndpointURL?
    public var jwksURI: EndpointURL?
    public var scopesSupported: [String]
    public var responseTypesSupported: [String]
    public var grantTypesSupported: [String]
    /// `client_secret_basic` if the server does not say (RFC 8414 §2).
    public var tokenEndpointAuthMethodsSupported: [String]
    public var codeChallengeMethodsSupported: [String]
    /// Empty: the server does not speak DPoP (RFC 9449 §5.1).
    public var dpopSigningAlgValuesSupported: [String]
    /// Whether callbacks always carry `iss` (RFC 9207 §3).
    public var authorizationResponseIssParameterSupported: Bool
    /// Whether only pushed authorization requests are accepted (RFC 9126 §5).
    public var requirePushedAuthorizationRequests: Bool

    public var supportsPKCE: Bool { codeChallengeMethodsSupported.contains("S256") }
    public var supportsDPoP: Bool { dpopSigningAlgValuesSupported.contains("ES256") }
}
