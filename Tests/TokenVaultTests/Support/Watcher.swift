import FoundationEssentials
import Synchronization
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// A subscriber who looks when the test says so: what is committed then has been told, and nothing depends on a task.
struct Watcher: Sendable {
    let sessions: SessionFeed
    private let subscription: FeedSubscription<SessionEvent>

    init(_ vault: Vault, _ scope: FeedScope = .all) async {
        sessions = vault.sessions
        subscription = vault.sessions.subscribeToEvents(scope)
        await sessions.stopReadingByItself()
    }

    init(_ vault: Vault, _ login: Login) async { await self.init(vault, .login(login.id.handle)) }

    /// Everything since the last call.
    func events() async -> [SessionEvent] {
        await sessions.catchUp()
        return subscription.buffer.takeAll()
    }

    /// The same, as names with the generation of what they are about: `updated 2`.
    func names() async -> [String] {
        await events().map { event in
            let name: String =
                switch event.kind {
                case .stateChanged(let state): "\(state)"
                case .missed(let count): "missed(\(count))"
                case .error(let code): "error(\(code))"
                default: event.kind.name
                }
            return event.generation.map { "\(name) \($0)" } ?? name
        }
    }
}

/// The same for states.
struct StateWatcher: Sendable {
    let sessions: SessionFeed
    private let subscription: FeedSubscription<SessionState>

    init(_ vault: Vault, _ scope: FeedScope) async {
        sessions = vault.sessions
        subscription = vault.sessions.subscribeToStates(scope)
        await sessions.stopReadingByItself()
    }

    init(_ vault: Vault, _ login: Login) async { await self.init(vault, .login(login.id.handle)) }

    func states() async -> [SessionState] {
        await sessions.catchUp()
        return subscription.buffer.takeAll()
    }
}

extension World {
    /// Lets time pass, and the feed notice.
    func pass(_ duration: Duration) {
        time.advance(by: duration)
        vault.sessions.inbox.withLock { $0.wake }?.signal()
    }

    /// Over a network a subscription begins a little later than its call, and only this process's changes wait for it.
    func subscriptionsHaveBegun() async { await vault.store.changes.arrivals.settled() }

    /// The app sets a token of this life.
    @discardableResult
    func set(_ login: Login, _ name: String = "set", lifetime: Duration = .seconds(3_600)) async throws -> Login {
        try await users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken(name),
            expiresAt: now.addingTimeInterval(lifetime / .seconds(1)))
    }

    /// The refresh token turns out to be dead.
    func kill(_ login: Login) async throws {
        transport.enqueue(.error("invalid_grant"))
        _ = try? await users.accessToken(for: .login(login.id), .renewed)
    }
}

extension SessionFeed {
    /// From here on only the test reads.
    fileprivate func stopReadingByItself() async {
        await store.changes.arrivals.settled()
        inbox.withLock { $0.wake }?.stop()
        state.withLock { $0.epoch += 1 }
    }
}
