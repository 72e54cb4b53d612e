public import FoundationEssentials
public import OAuthClient
import Synchronization
public import TokenVault

/// A `TokenRefreshHandler` that answers as told, and remembers what it was asked.
///
/// ```swift
/// let handler = ScriptedRefreshHandler()
/// handler.enqueue(try Sample.accessToken("2"), expiresAt: time.now().addingTimeInterval(3_600))
/// handler.failure = .permanent
/// ```
public final class ScriptedRefreshHandler: TokenRefreshHandler {
    /// What it answers in place of tokens.
    public enum Failure: Sendable {
        /// *Not now*: the vault asks again after a backoff.
        case temporary
        /// *It is over*: the login is dead.
        case permanent
    }

    private struct State {
        var tokens: [RefreshedAccessToken] = []
        var failure: Failure?
        var asked: [String] = []
        var failed: [String] = []
    }

    private struct NotNow: Error {}

    private let state = Mutex(State())

    public init() {}

    /// Until it is nil again, there are no tokens.
    public var failure: Failure? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// The users for whom it was asked, in order.
    public var asked: [String] { state.withLock { $0.asked } }
    /// The users for whom ``onRefreshFailed(userId:login:)`` was called, in order.
    public var failed: [String] { state.withLock { $0.failed } }

    /// Tokens are handed out in order. With none left it says *not now*.
    public func enqueue(_ accessToken: AccessToken, expiresAt: Date? = nil) {
        state.withLock { $0.tokens.append(RefreshedAccessToken(accessToken: accessToken, expiresAt: expiresAt)) }
    }

    public func refreshAuthentication(userId: String, login: LoginID) async throws -> RefreshedAccessToken {
        let (failure, token): (Failure?, RefreshedAccessToken?) = state.withLock { state in
            state.asked.append(userId)
            guard state.failure == nil, !state.tokens.isEmpty else { return (state.failure, nil) }
            return (nil, state.tokens.removeFirst())
        }
        if failure == .permanent { throw RefreshFailedError() }
        guard let token else { throw NotNow() }
        return token
    }

    public func onRefreshFailed(userId: String, login: LoginID) async {
        state.withLock { $0.failed.append(userId) }
    }
}
