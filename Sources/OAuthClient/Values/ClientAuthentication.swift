/// How the client proves to the token endpoint who it is (RFC 6749 §2.3; names as registered by RFC 7591).
public enum ClientAuthentication: Hashable, Sendable {
    /// A public client: only its `client_id` travels.
    case none
    /// Id and secret, each form-urlencoded first, in the `Authorization` header.
    case clientSecretBasic(ClientSecret)
    /// Id and secret in the body.
    case clientSecretPost(ClientSecret)
    /// An assertion signed with the client's own key, new for each request (RFC 7523 §2.2).
    case privateKeyJWT(ClientAssertionKey)

    /// The registered name, such as `client_secret_basic`.
    public var methodName: String {
        switch self {
        case .none: "none"
        case .clientSecretBasic: "client_secret_basic"
        case .clientSecretPost: "client_secret_post"
        case .privateKeyJWT: "private_key_jwt"
        }
    }

    /// Every registered name that is supported.
    package static let methodNames = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]

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
        case .none, .privateKeyJWT: nil
        case .clientSecretBasic(let secret), .clientSecretPost(let secret): secret
        }
    }

    /// Whether a refresh token is bound to the client's own credentials rather than to a DPoP key (RFC 9449 §5).
    public var isConfidential: Bool {
        if case .none = self { false } else { true }
    }
}
