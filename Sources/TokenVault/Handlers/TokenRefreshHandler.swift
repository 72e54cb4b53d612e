public import FoundationEssentials
public import OAuthClient

/// Gets new access tokens for logins that have no refresh token, and learns when a login is dead.
///
/// ```swift
/// struct Tokens: TokenRefreshHandler {
///     func refreshAuthentication(userId: String, login: LoginID) async throws -> RefreshedAccessToken {
///         guard let token = try await ourServer.newToken(for: userId) else { throw RefreshFailedError() }
///         return RefreshedAccessToken(accessToken: token.value, expiresAt: token.end)
///     }
///     func onRefreshFailed(userId: String, login: LoginID) async { await mail.askToLogInAgain(userId) }
/// }
/// ```
///
/// The vault asks once for any number of waiting callers, in one process at a time.
/// - Throw ``RefreshFailedError`` when it is over: the login is flagged, durably, and neither this nor any other
///   process asks again until ``UserManager/updateAccessToken(userId:accessToken:expiresAt:refreshToken:)``.
/// - Any other error means *not now*: the vault asks again later, no sooner than a backoff allows.
/// - Returning an expired token, or the current one again, also means *not now*, unless the current one is valid for
///   longer than was known and no resource server has refused it.
/// - The task is cancelled when the login is logged out or gets a token in another way, when the vault is closed, when
///   every caller that waited for it has been cancelled, and when ``UserManagerOptions/handlerTimeLimit`` is over. Its
///   result is then ignored, and no caller waits for it to return. A caller's own deadline does not cancel it.
/// - From within, every method of ``UserManager`` may be called. One that would wait for the renewal in question throws
///   ``VaultError/Code/conflict``; a new token, or a log-out, makes the question void.
///
/// A ``SessionHandler``, if there is one, is asked first.
public protocol TokenRefreshHandler: Sendable {
    /// Returns a new access token for this login.
    func refreshAuthentication(userId: String, login: LoginID) async throws -> RefreshedAccessToken

    /// The login is dead. Called once each time a login dies, by one process, after the flag is durable; if the process
    /// that found out has no handler, by the next one that has. Callers wait for its return, but no longer than
    /// ``UserManagerOptions/handlerTimeLimit``.
    func onRefreshFailed(userId: String, login: LoginID) async

    /// The provider wants the user to act, for instance to consent again: nothing is sent for this login before it gets
    /// a new token. Called once each time, as ``onRefreshFailed(userId:login:)`` is. By default nothing is done.
    func onUserNeeded(userId: String, login: LoginID) async
}

extension TokenRefreshHandler {
    public func onUserNeeded(userId: String, login: LoginID) async {}
}

/// Thrown by a ``TokenRefreshHandler`` to say that this login can no longer be renewed.
public struct RefreshFailedError: Error, Sendable {
    public init() {}
}

/// The result of a ``TokenRefreshHandler``.
public struct RefreshedAccessToken: Sendable {
    public let accessToken: AccessToken
    /// When it expires; nil if unknown: then it is used until a resource server is reported to refuse it.
    public let expiresAt: Date?

    /// - Parameters:
    ///   - accessToken: The new token.
    ///   - expiresAt: By default the `exp` of a token that is a JWT.
    public init(accessToken: AccessToken, expiresAt: Date? = nil) {
        self.accessToken = accessToken
        self.expiresAt = expiresAt ?? accessToken.claimedExpiry
    }
}

extension RefreshedAccessToken: PublicRendering {
    var shown: ShownFields {
        [
            "accessToken": accessToken, "expiresAt": expiresAt,
        ]
    }
}
