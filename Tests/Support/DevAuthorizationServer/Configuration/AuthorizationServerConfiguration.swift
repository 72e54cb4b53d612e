public import FoundationEssentials

/// How one server behaves. The defaults are those of a strict server: rotation, reuse detection, no grace.
public struct AuthorizationServerConfiguration: Sendable {
    /// A profile that leaves clients fewer choices than the RFCs do.
    public enum Strictness: String, Sendable, CaseIterable {
        /// What the RFCs allow.
        case none
        /// FAPI 2.0 Security Profile §5.3.2: pushed requests with PKCE, `private_key_jwt` for the issuer or mutual TLS, and
        /// tokens that are bound.
        case fapi2
        /// Model Context Protocol, authorization of revision 2026-07-28: PKCE, `resource` in every request for a code or
        /// a token, open registration with an `application_type`, client-id metadata documents, and a protected resource
        /// that says where to log in.
        case mcp
    }

    /// Whether a refresh gives a new refresh token.
    public enum RefreshRotation: String, Sendable, CaseIterable {
        case always, never
    }

    /// What a spent refresh token does when it comes back (RFC 9700 §4.14.2).
    public enum ReuseResponse: String, Sendable, CaseIterable {
        /// The whole family dies.
        case revoke
        /// Every grant that the user gave to this client dies.
        case revokeUser = "revoke-user"
        /// Only this request is refused.
        case refuse
    }

    /// Whether DPoP proofs need a nonce of ours (RFC 9449 §8).
    public enum NoncePolicy: Sendable, Equatable {
        case none
        /// One nonce for all, replaced after `rotation`; the one before it is still taken for as long again.
        case required(rotation: Duration)
        /// Every reply brings a nonce that is good for one request.
        case requiredOnce
    }

    /// Where in a token request the nonce is looked at.
    public enum NonceCheck: String, Sendable, CaseIterable {
        /// Before the code or refresh token is touched.
        case first
        /// After the refresh token was spent, as some servers do: a client that comes without the nonce loses its chain.
        case last
        /// Not at all.
        case never
    }

    public enum SigningAlgorithm: String, Sendable, CaseIterable {
        case es256 = "ES256"
        case rs256 = "RS256"
    }

    /// Port on 127.0.0.1; 0 takes a free one.
    public var port = 0
    /// Issuer identifier; by default the address listened on followed by `issuerPath`.
    public var issuer: String?
    /// Path under which everything is served, such as `/tenant`; empty or beginning with a slash.
    public var issuerPath = ""
    /// Where clients may show certificates; `nil`: nowhere.
    public var tls: TLSListener?
    public var clients: [RegisteredClient] = [.demo, .demoBasic, .demoPost]
    /// Whether clients may register themselves (RFC 7591); `nil`: no.
    public var registration: RegistrationPolicy?
    /// Fetches the document of a client whose id is a URL; nil: the server takes no such clients
    /// (draft-ietf-oauth-client-id-metadata-document-01).
    public var fetchClientDocument: (@Sendable (_ url: String) async -> [UInt8]?)?
    public var scopes = ["openid", "profile", "offline_access", "read", "write"]
    /// The user who is meant when an authorization request has no `login_hint`.
    public var defaultUser = "alice"
    /// Whether `/authorize` answers with a code at once instead of asking.
    public var approvesAutomatically = true

    /// Resource indicators that may be asked for (RFC 8707), besides our own `/resource` and what lies below it.
    public var resources: [String] = []
    /// What the resource wants of how its user authenticated (RFC 9470): one of these classes; empty is nothing.
    public var resourceContextClasses: [String] = []
    /// The same: how long ago at most.
    public var resourceMaximumAge: Duration?
    /// What the resource says of itself (RFC 9728); `nil`: nothing, and it takes every good token.
    public var protectedResource: ProtectedResourceBehaviour?
    /// Issuers that may vouch for users (RFC 7523 §2.1, RFC 8693), by the `iss` of their tokens, and their keys.
    public var trustedIssuers: [String: RegisteredKey] = [:]
    /// Whether authorization requests must be pushed (RFC 9126 §5).
    public var requiresPushedRequests = false
    /// What clients are held to beyond the RFCs.
    public var strictness = Strictness.none {
        didSet {
            switch strictness {
            case .none: break
            case .fapi2: requiresPushedRequests = true
            case .mcp:
                if registration == nil { registration = RegistrationPolicy() }
                if fetchClientDocument == nil { fetchClientDocument = { url in await ClientDocument.fetch(url) } }
                if protectedResource == nil { protectedResource = .sample }
            }
        }
    }

    public var codeLifetime: Duration = .seconds(60)
    public var pushedRequestLifetime: Duration = .seconds(60)
    /// How long a user has to approve a device (RFC 8628).
    public var deviceCodeLifetime: Duration = .seconds(600)
    /// How long a device waits between two questions.
    public var devicePollInterval: Duration = .seconds(5)
    /// How far `exp` of a client assertion may lie ahead.
    public var longestAssertionLifetime: Duration = .seconds(300)
    public var accessTokenLifetime: Duration = .seconds(3600)
    /// From the log-in on; `nil` is without end.
    public var refreshTokenLifetime: Duration?
    public var refreshRotation = RefreshRotation.always
    /// How long the refresh token before the last one gives the last one again, as long as that was not used itself.
    public var graceWindow: Duration = .zero
    public var reuseResponse = ReuseResponse.revoke
    /// Delays, and whatever else is to take the place of the values above until it is changed at run time.
    public var behaviour = ClientBehaviour()
    /// Whether a refresh ends the access tokens given before.
    public var keepsOneAccessToken = false
    /// Whether replies contain `expires_in`, which RFC 6749 only recommends.
    public var announcesExpiry = true

    public var noncePolicy = NoncePolicy.none
    public var nonceCheck = NonceCheck.first
    /// Oldest `iat` taken.
    public var proofLifetime: Duration = .seconds(60)
    /// How far `iat` may lie ahead of our clock.
    public var proofLeeway: Duration = .seconds(10)

    public var idTokenAlgorithm = SigningAlgorithm.es256
    /// Put into every secret that the server makes, so that files and logs can be searched for it.
    public var secretMarker = ""
    /// Characters of an access token after its prefix.
    public var accessTokenLength = 43
    /// The wall clock.
    public var now: @Sendable () -> Date = { Date() }

    public init() {}
}
