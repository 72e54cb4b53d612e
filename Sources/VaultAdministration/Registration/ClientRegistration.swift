package import FoundationEssentials
package import OAuthClient
package import TokenVault

/// A client to be registered at a provider (RFC 7591).
package struct ClientRegistration: Sendable {
    /// How the client will authenticate. Secrets come from the provider; keys and certificates are the client's own.
    package enum Authentication: Sendable {
        case none
        case clientSecretBasic
        case clientSecretPost
        case privateKeyJWT(ClientAssertionKey)
        /// - Parameter subject: The name in the certificate, as RFC 4514 writes it.
        case tlsClientAuth(ClientCertificate, subject: String)
        case selfSignedTLSClientAuth(ClientCertificate)
    }

    /// The allowed redirect URIs. The first one is the default of a log-in.
    package var redirectURIs: [RedirectURI]
    /// Shown to users who are asked for their consent.
    package var clientName: String?
    /// What the client may ask for, and by default the default scope of a log-in.
    package var scope: Scope?
    /// The default scope of a log-in, if it is another one.
    package var logInScope: Scope?
    /// Whether the client is for whatever resource names the server.
    package var isOfResources = false
    package var authentication: Authentication
    package var grantTypes = ["authorization_code", "refresh_token"]
    /// When logins are bound to a key. `required` is also registered (RFC 9449 §5.2).
    package var dpop: DPoPPolicy

    package init(
        redirectURIs: [RedirectURI], authentication: Authentication = .clientSecretBasic, clientName: String? = nil,
        scope: Scope? = nil, dpop: DPoPPolicy = .optional
    ) {
        self.redirectURIs = redirectURIs
        self.authentication = authentication
        self.clientName = clientName
        self.scope = scope
        self.dpop = dpop
    }
}

/// Changes to a registration. Omitted values stay as they are.
package struct ClientRegistrationChange: Sendable {
    package var redirectURIs: [RedirectURI]?
    package var clientName: String?
    package var scope: Scope?

    package init(redirectURIs: [RedirectURI]? = nil, clientName: String? = nil, scope: Scope? = nil) {
        self.redirectURIs = redirectURIs
        self.clientName = clientName
        self.scope = scope
    }
}

/// A client as the provider has it registered, without its secrets (RFC 7591 §3.2.1).
package struct RegisteredClientView: Sendable, Equatable {
    package let clientID: ClientID
    /// In the provider's words, such as `client_secret_basic`; nil if it does not say.
    package let authenticationMethod: String?
    package let redirectURIs: [String]
    package let grantTypes: [String]
    package let clientName: String?
    package let scope: String?
    /// When the client's secret ends; nil: never, or there is none.
    package let secretExpiresAt: Date?
}

extension RegisteredClientView {
    init(_ client: ClientInformation) {
        self.init(
            clientID: client.clientID, authenticationMethod: client.authenticationMethod,
            redirectURIs: client.redirectURIs, grantTypes: client.grantTypes, clientName: client.clientName,
            scope: client.scope, secretExpiresAt: client.secretExpiresAt)
    }
}

extension ClientRegistration {
    var method: String {
        switch authentication {
        case .none: "none"
        case .clientSecretBasic: "client_secret_basic"
        case .clientSecretPost: "client_secret_post"
        case .privateKeyJWT: "private_key_jwt"
        case .tlsClientAuth: "tls_client_auth"
        case .selfSignedTLSClientAuth: "self_signed_tls_client_auth"
        }
    }

    /// The request to a provider with this metadata.
    func metadata(at server: ServerMetadata) -> ClientMetadata {
        var metadata = ClientMetadata(
            redirectURIs: redirectURIs, grantTypes: grantTypes, tokenEndpointAuthMethod: method, clientName: clientName,
            scope: scope)
        metadata.dpopBoundAccessTokens = dpop == .required
        metadata.requirePushedAuthorizationRequests = server.requirePushedAuthorizationRequests
        switch authentication {
        case .none, .clientSecretBasic, .clientSecretPost: break
        case .privateKeyJWT(let key):
            metadata.jwks = key.jwks
            metadata.tokenEndpointAuthSigningAlg = key.algorithm.rawValue
        case .tlsClientAuth(_, let subject): metadata.tlsClientAuthSubjectDN = subject
        case .selfSignedTLSClientAuth(let certificate): metadata.jwks = certificate.jwks
        }
        switch authentication {
        case .tlsClientAuth, .selfSignedTLSClientAuth:
            metadata.tlsClientCertificateBoundAccessTokens = server.tlsClientCertificateBoundAccessTokens
        default: break
        }
        return metadata
    }

    /// How the registered client authenticates; nil if it was registered with a method that is not possible here.
    ///
    /// A server may register another method than the requested one (RFC 7591 §3.2.1).
    func authentication(of client: ClientInformation) -> ClientAuthentication? {
        let method = client.authenticationMethod ?? method
        switch (method, authentication) {
        case ("private_key_jwt", .privateKeyJWT(let key)): return .privateKeyJWT(key)
        case ("tls_client_auth", .tlsClientAuth(let certificate, _)): return .tlsClientAuth(certificate)
        case ("self_signed_tls_client_auth", .selfSignedTLSClientAuth(let certificate)):
            return .selfSignedTLSClientAuth(certificate)
        default: return ClientAuthentication(methodName: method, secret: client.clientSecret)
        }
    }
}
