/// How the client authenticates to the token endpoint (RFC 6749 §2.3; names as registered by RFC 7591).
public enum ClientAuthentication: Hashable, Sendable {
    /// A public client: it sends only its `client_id`.
    case none
    /// Id and secret, each form-urlencoded, in the `Authorization` header.
    case clientSecretBasic(ClientSecret)
    /// Id and secret in the body.
    case clientSecretPost(ClientSecret)
    /// An assertion signed with the client's own key, new for each request (RFC 7523 §2.2).
    case privateKeyJWT(ClientAssertionKey)
    /// A certificate of an authority that the server trusts, presented on the TLS connection (RFC 8705 §2.1).
    case tlsClientAuth(ClientCertificate)
    /// A certificate that is registered itself, presented on the TLS connection (RFC 8705 §2.2).
    case selfSignedTLSClientAuth(ClientCertificate)

    /// The registered name, such as `client_secret_basic`.
    public var methodName: String {
        switch self {
        case .none: "none"
        case .clientSecretBasic: "client_secret_basic"
        case .clientSecretPost: "client_secret_post"
        case .privateKeyJWT: "private_key_jwt"
        case .tlsClientAuth: "tls_client_auth"
        case .selfSignedTLSClientAuth: "self_signed_tls_client_auth"
        }
    }

    /// Every registered name that is supported.
    package static let methodNames = [
        "none", "client_secret_basic", "client_secret_post", "private_key_jwt", "tls_client_auth",
        "self_signed_tls_client_auth",
    ]

    /// Nil for a method that is not supported or whose secret is missing.
    public init?(methodName: String, secret: ClientSecret?) {
        switch (methodName, secret) {
        case ("none", _): self = .none
        case ("client_secret_basic", let secret?): self = .clientSecretBasic(secret)
        case ("client_secret_post", let secret?): self = .clientSecretPost(secret)
        default: return nil
        }
    }

    var secret: ClientSecret? {
        switch self {
        case .none, .privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth: nil
        case .clientSecretBasic(let secret), .clientSecretPost(let secret): secret
        }
    }

    /// The certificate that the client presents on its connections, if it authenticates that way.
    public var certificate: ClientCertificate? {
        switch self {
        case .tlsClientAuth(let certificate), .selfSignedTLSClientAuth(let certificate): certificate
        default: nil
        }
    }

    /// The certificate method with this name; nil for any other method.
    public init?(methodName: String, certificate: ClientCertificate) {
        switch methodName {
        case "tls_client_auth": self = .tlsClientAuth(certificate)
        case "self_signed_tls_client_auth": self = .selfSignedTLSClientAuth(certificate)
        default: return nil
        }
    }

    /// Whether a refresh token is bound to the client's own credentials rather than to a DPoP key (RFC 9449 §5).
    public var isConfidential: Bool {
        if case .none = self { false } else { true }
    }
}
