/// The metadata of an authorization server (RFC 8414 §2, OpenID Connect Discovery §3).
public struct ServerMetadata: Hashable, Sendable {
    public var issuer: Issuer
    public var tokenEndpoint: EndpointURL
    public var authorizationEndpoint: EndpointURL?
    public var revocationEndpoint: EndpointURL?
    public var introspectionEndpoint: EndpointURL?
    public var pushedAuthorizationRequestEndpoint: EndpointURL?
    /// The endpoint where devices ask for codes (RFC 8628 §4).
    public var deviceAuthorizationEndpoint: EndpointURL?
    public var jwksURI: EndpointURL?
    /// The endpoint where clients register themselves (RFC 7591).
    public var registrationEndpoint: EndpointURL?
    public var scopesSupported: [String]
    public var responseTypesSupported: [String]
    public var grantTypesSupported: [String]
    /// `client_secret_basic` if the server does not list any (RFC 8414 §2).
    public var tokenEndpointAuthMethodsSupported: [String]
    public var codeChallengeMethodsSupported: [String]
    /// Empty if the server does not support DPoP (RFC 9449 §5.1).
    public var dpopSigningAlgValuesSupported: [String]
    /// Whether callbacks always carry `iss` (RFC 9207 §3).
    public var authorizationResponseIssParameterSupported: Bool
    /// Whether only pushed authorization requests are accepted (RFC 9126 §5).
    public var requirePushedAuthorizationRequests: Bool
    /// Whether it binds access tokens to certificates (RFC 8705 §3.3).
    public var tlsClientCertificateBoundAccessTokens: Bool
    /// Alternative endpoints for clients that present a certificate, by name, such as `token_endpoint` (RFC 8705 §5).
    public var mtlsEndpointAliases: [String: EndpointURL]
    /// Whether a client may have the URL of its metadata as its id
    /// (draft-ietf-oauth-client-id-metadata-document-01).
    package internal(set) var clientIDMetadataDocumentSupported = false
    /// Members of the document with unexpected values, which were ignored or read leniently. None of them protects
    /// anything.
    public internal(set) var unreadMembers: [String] = []

    public var supportsPKCE: Bool { codeChallengeMethodsSupported.contains("S256") }
    public var supportsDPoP: Bool { dpopSigningAlgValuesSupported.contains("ES256") }

    /// The same metadata with the endpoints for clients that present a certificate, where the server has separate ones.
    public var forMutualTLS: ServerMetadata {
        var metadata = self
        func alias(_ name: String, _ endpoint: inout EndpointURL?) {
            if endpoint != nil, let alias = mtlsEndpointAliases[name] { endpoint = alias }
        }
        if let alias = mtlsEndpointAliases["token_endpoint"] { metadata.tokenEndpoint = alias }
        alias("revocation_endpoint", &metadata.revocationEndpoint)
        alias("introspection_endpoint", &metadata.introspectionEndpoint)
        alias("pushed_authorization_request_endpoint", &metadata.pushedAuthorizationRequestEndpoint)
        alias("device_authorization_endpoint", &metadata.deviceAuthorizationEndpoint)
        return metadata
    }
}
