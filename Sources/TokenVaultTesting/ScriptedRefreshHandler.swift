public import FoundationEssentials
public import OAuthClient
import Synchronization
public import TokenVault

/// A `TokenRefreshHandler` that answers from a script, and records the calls.
///
/// ```swift
/// let handler = ScriptedRefreshHandler()
/// handler.enqueue(try Sample.accessToken("2"), expiresAt: time.now().addingTimeInterval(3_600))
/// handler.failure = .permanent
/// ```
public final class ScriptedRefreshHandler: TokenRefreshHandler {
    /// The answer when there are no tokens.
    public enum Failure: Sendable {
        /// *Not now*: the vault calls again after a backoff.
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

    /// While it is set, there are no tokens.
    public var failure: Failure? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// The users that it was called for, in order.
    public var asked: [String] { state.withLock { $0.asked } }
    /// The users for whom ``onRefreshFailed(userId:login:)`` was called, in order.
    public var failed: [String] { state.withLock { $0.failed } }

    /// Tokens are handed out in order. When none is left, the handler answers *not now*.
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
