public import FoundationEssentials
public import OAuthClient

/// Gets new access tokens for logins that have no refresh token, and learns when a login has died.
///
/// The vault asks once for any number of waiting callers, in one process at a time.
/// - Throw ``RefreshFailedError`` when it is over: the login is flagged, durably, and neither this nor any other
///   process asks again until ``UserManager/updateAccessToken(userId:accessToken:expiresAt:refreshToken:)``.
/// - Any other error means *not now*: the vault asks again later, no sooner than a backoff allows.
/// - The task is cancelled when the login is logged out or gets a token otherwise, and when every caller that
///   waited for it has been cancelled.
public protocol TokenRefreshHandler: Sendable {
    /// Returns a new access token for this login.
    func refreshAuthentication(userId: String, login: LoginID) async throws -> RefreshedAccessToken

    /// The login is dead. Called once for each time that a login dies, by one process.
    func onRefreshFailed(userId: String, login: LoginID) async
}

/// Thrown by a ``TokenRefreshHandler`` to say that this login can no longer be renewed.
public struct RefreshFailedError: Error, Sendable {
    public init() {}
}

/// What a ``TokenRefreshHandler`` returns.
public struct RefreshedAccessToken: Sendable {
    public let accessToken: AccessToken
    /// When it runs out; nil if unknown: then it is used until a resource server is reported to refuse it.
    public let expiresAt: Date?

    public init(accessToken: AccessToken, expiresAt: Date? = nil) {
        self.accessToken = accessToken
        self.expiresAt = expiresAt
    }
}
