/// A client as the server knows it (RFC 7591 in short).
public struct RegisteredClient: Sendable {
    /// How a client proves who it is, and the only way it may do so (RFC 6749 §2.3).
    public enum Authentication: Sendable, Equatable {
        /// A public client: `client_id` in the body and nothing else.
        case none
        /// `client_secret_basic`
        case basic(secret: String)
        /// `client_secret_post`
        case post(secret: String)
        /// `private_key_jwt` (RFC 7523 §2.2)
        case privateKeyJWT(RegisteredKey)
        /// `tls_client_auth` (RFC 8705 §2.1)
        case certificate(CertificateSubject)
        /// `self_signed_tls_client_auth` (RFC 8705 §2.2)
        case selfSignedCertificate([RegisteredCertificate])
    }

    public var id: String
    public var authentication: Authentication
    /// Compared character by character, except the port of a loopback address (RFC 8252 §7.3).
    public var redirectURIs: [String]
    /// Whether a token request without a DPoP proof is refused (`dpop_bound_access_tokens`, RFC 9449 §5.2).
    public var requiresDPoP: Bool
    /// Whether its grants come with refresh tokens.
    public var receivesRefreshTokens: Bool
    /// Whether its authorization requests must be pushed (RFC 9126 §6).
    public var requiresPushedRequests: Bool
    /// Whether its access tokens are bound to the certificate that it shows (`tls_client_certificate_bound_access_tokens`,
    /// RFC 8705 §3.4). Token requests without one are refused.
    public var bindsTokensToCertificate: Bool
    /// Where it is treated differently from the others.
    public var behaviour: ClientBehaviour

    public init(
        id: String,
        authentication: Authentication = .none,
        redirectURIs: [String] = RegisteredClient.sampleRedirectURIs,
        requiresDPoP: Bool = false,
        receivesRefreshTokens: Bool = true,
        requiresPushedRequests: Bool = false,
        bindsTokensToCertificate: Bool = false,
        behaviour: ClientBehaviour = ClientBehaviour()
    ) {
        self.id = id
        self.authentication = authentication
        self.redirectURIs = redirectURIs
        self.requiresDPoP = requiresDPoP
        self.receivesRefreshTokens = receivesRefreshTokens
        self.requiresPushedRequests = requiresPushedRequests
        self.bindsTokensToCertificate = bindsTokensToCertificate
        self.behaviour = behaviour
    }

    var isPublic: Bool { authentication == .none }

    public static let sampleRedirectURIs = [
        "http://127.0.0.1/callback", "http://[::1]/callback", "https://app.example/callback",
    ]

    /// Public client `demo`.
    public static let demo = RegisteredClient(id: "demo")
    /// Confidential client `demo-basic`, secret `demo-basic-secret` in the Authorization header.
    public static let demoBasic = RegisteredClient(
        id: "demo-basic", authentication: .basic(secret: "demo-basic-secret"))
    /// Confidential client `demo-post`, secret `demo-post-secret` in the body.
    public static let demoPost = RegisteredClient(id: "demo-post", authentication: .post(secret: "demo-post-secret"))
}
