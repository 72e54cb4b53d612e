public import FoundationEssentials
public import OAuthClient

/// Another system from which logins are pulled when they are first needed: a gradual move without a cut-over day.
///
/// ```swift
/// struct OldSystem: LoginSource {
///     let name = "web"
///     func release(userId: String) async throws -> [ReleasedLogin] {
///         // UPDATE accounts SET claimed_at = coalesce(claimed_at, now()) WHERE user_id = $1 RETURNING *
///         [ReleasedLogin(key: "4711", provider: "acme", refreshToken: try RefreshToken("from that row"))]
///     }
/// }
/// let users = try await UserManager(vault: vault, transport: transport, options: .init(loginSource: OldSystem()))
/// ```
///
/// It is asked for users that the vault does not know, once for any number of callers. Their calls then continue as if
/// the user had always been in the vault. A user who was in the vault is never pulled again, so erase users in the
/// other system before you erase them here.
public protocol LoginSource: Sendable {
    /// The name that the vault records for the source of a login. At most 64 bytes.
    var name: String { get }

    /// Lets go of the user's logins, and gives them.
    ///
    /// When it returns, the other system must renew them no longer, and that must be durable there: two systems that renew
    /// one chain end it. It may be called again for the same user, after a crash or by another process, and then gives the
    /// same logins. None: the system does not know the user.
    func release(userId: String) async throws -> [ReleasedLogin]
}

/// A login that another system has let go. Its renderings show neither tokens nor the account.
public struct ReleasedLogin: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The other system's key of the login, which never changes.
    package var key: String
    /// The provider's name in this vault.
    package var provider: String
    package var accessToken: AccessToken?
    /// Nil if it is not known.
    package var expiresAt: Date?
    package var refreshToken: RefreshToken?
    /// Nil if it is not known, or never.
    package var refreshExpiresAt: Date?
    package var scope: Scope?
    /// Nil: `Bearer`, or `DPoP` with a key.
    package var tokenType: TokenType?
    package var dpopKey: DPoPKey?
    package var label: String?
    /// The user's id at the provider.
    package var subject: String?

    public init(
        key: String, provider: String, accessToken: AccessToken? = nil, expiresAt: Date? = nil,
        refreshToken: RefreshToken? = nil, refreshExpiresAt: Date? = nil, scope: Scope? = nil,
        tokenType: TokenType? = nil, dpopKey: DPoPKey? = nil, label: String? = nil, subject: String? = nil
    ) {
        self.key = key
        self.provider = provider
        self.accessToken = accessToken
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
        self.refreshExpiresAt = refreshExpiresAt
        self.scope = scope
        self.tokenType = tokenType
        self.dpopKey = dpopKey
        self.label = label
        self.subject = subject
    }

    public var description: String { "a login at \(provider)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
