public import FoundationEssentials

/// What a vault tells about a login. Nothing in it is secret, except that it connects a user with a provider.
public struct Login: Sendable, Equatable {
    public let id: LoginID
    public let userID: String
    /// The provider's name in this vault; nil for a login whose tokens come from the app alone.
    public let provider: String?
    public let state: SessionState
    /// What the app called this login, to tell several apart.
    public let label: String?
    public let scope: String?
    public let tokenType: String
    /// How many links of the login's chain have been stored.
    public let generation: Int
    /// When the login was made.
    public let createdAt: Date
    /// When the current token was obtained.
    public let obtainedAt: Date
    /// When the access token runs out; nil when unknown.
    public let expiresAt: Date?
    /// Whether there is a refresh token.
    public let isRefreshable: Bool
    /// Whether the chain is bound to a DPoP key held by the vault.
    public let isDPoPBound: Bool
    /// The *refresh failed* flag.
    public let failure: RefreshFailure?
    /// No renewal is tried before this time: a backoff, or because the server asked for it.
    public let notBefore: Date?
    /// A renewal may have reached the server and no usable reply came; the same refresh token is sent again.
    public let isInDoubt: Bool
}

/// One line of a listing of logins. A row that cannot be opened is listed as such: never hidden, never in the way.
public enum LoginEntry: Sendable, Equatable {
    case login(Login)
    /// The row of this login does not open; the sentence says what is wrong.
    case damaged(LoginID, String)
}
