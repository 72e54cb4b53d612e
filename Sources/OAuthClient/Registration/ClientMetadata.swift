/// The metadata of a client, for its registration (RFC 7591 §2) or its document (``ClientMetadataDocument``).
package struct ClientMetadata: Hashable, Sendable {
    package var redirectURIs: [RedirectURI]
    /// From the registry of RFC 7591, such as `authorization_code`.
    package var grantTypes: [String]
    package var responseTypes: [String]
    /// How the client authenticates at the token endpoint, such as `client_secret_basic`.
    package var tokenEndpointAuthMethod: String
    /// How it signs assertions (OpenID Connect Dynamic Client Registration §2), for `private_key_jwt`.
    package var tokenEndpointAuthSigningAlg: String?
    /// Shown to users when they are asked for consent.
    package var clientName: String?
    package var scope: Scope?
    /// Public keys as a JWK set (RFC 7517), for `private_key_jwt` and `self_signed_tls_client_auth`.
    package var jwks: String?
    /// Whether the client always uses DPoP (RFC 9449 §5.2).
    package var dpopBoundAccessTokens: Bool
    /// Whether access tokens must be bound to the client's certificate (RFC 8705 §3.4).
    package var tlsClientCertificateBoundAccessTokens: Bool
    /// The name in the client's certificate, for `tls_client_auth` (RFC 8705 §2.1.2).
    package var tlsClientAuthSubjectDN: String?
    package var requirePushedAuthorizationRequests: Bool

    package init(
        redirectURIs: [RedirectURI], grantTypes: [String] = ["authorization_code", "refresh_token"],
        responseTypes: [String] = ["code"], tokenEndpointAuthMethod: String = "client_secret_basic",
        clientName: String? = nil, scope: Scope? = nil
    ) {
        self.redirectURIs = redirectURIs
        self.grantTypes = grantTypes
        self.responseTypes = responseTypes
        self.tokenEndpointAuthMethod = tokenEndpointAuthMethod
        self.clientName = clientName
        self.scope = scope
        dpopBoundAccessTokens = false
        tlsClientCertificateBoundAccessTokens = false
        requirePushedAuthorizationRequests = false
    }

    /// Whether callbacks go to a program on the user's machine (OpenID Connect Dynamic Client Registration §2). A
    /// client that does not say counts as a web application, whose callbacks may not go there.
    private var isNative: Bool {
        !redirectURIs.isEmpty && redirectURIs.allSatisfy { !$0.rawValue.lowercased().hasPrefix("https:") }
    }

    /// The members as JSON. Default values are omitted.
    var members: [(name: String, json: String)] {
        func list(_ texts: [String]) -> String { "[" + texts.map(JSONText.quote).joined(separator: ",") + "]" }
        var members: [(String, String)] = [
            ("redirect_uris", list(redirectURIs.map(\.rawValue))), ("grant_types", list(grantTypes)),
            ("response_types", list(responseTypes)),
            ("token_endpoint_auth_method", JSONText.quote(tokenEndpointAuthMethod)),
            ("application_type", JSONText.quote(isNative ? "native" : "web")),
        ]
        if let algorithm = tokenEndpointAuthSigningAlg {
            members.append(("token_endpoint_auth_signing_alg", JSONText.quote(algorithm)))
        }
        if let clientName { members.append(("client_name", JSONText.quote(clientName))) }
        if let scope { members.append(("scope", JSONText.quote(scope.description))) }
        if let jwks { members.append(("jwks", jwks)) }
        if dpopBoundAccessTokens { members.append(("dpop_bound_access_tokens", "true")) }
        if tlsClientCertificateBoundAccessTokens {
            members.append(("tls_client_certificate_bound_access_tokens", "true"))
        }
        if let name = tlsClientAuthSubjectDN { members.append(("tls_client_auth_subject_dn", JSONText.quote(name))) }
        if requirePushedAuthorizationRequests { members.append(("require_pushed_authorization_requests", "true")) }
        return members
    }
}
