import EngineSupport
import OAuthClient
import Synchronization
import TestSupport
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// An observer that remembers what it has heard.
final class Recorder: LoginObserver {
    struct Refusal: Error {}

    private struct State: Sendable {
        var heard: [SessionEvent] = []
        var refusals: Int
        var refused = 0
    }

    let name: String
    private let state: Mutex<State>
    private let refuses: @Sendable (SessionEvent) -> Bool
    private let gate: Gate?

    /// - Parameters:
    ///   - refusals: How many events are refused before one is taken.
    ///   - gate: Each event is held here, once it was heard.
    ///   - refuses: Which events may be refused.
    init(
        name: String = "mailer", refusals: Int = 0, gate: Gate? = nil,
        refuses: @escaping @Sendable (SessionEvent) -> Bool = { _ in true }
    ) {
        self.name = name
        self.gate = gate
        self.refuses = refuses
        state = Mutex(State(refusals: refusals))
    }

    var heard: [SessionEvent] { state.withLock { $0.heard } }
    var names: [String] { heard.map(\.kind.name) }
    var refused: Int { state.withLock { $0.refused } }

    func observe(_ event: SessionEvent) async throws {
        try state.withLock { state in
            guard state.refusals == 0 || !refuses(event) else {
                state.refusals -= 1
                state.refused += 1
                throw Refusal()
            }
            state.heard.append(event)
        }
        await gate?.pass()
    }
}

extension World {
    /// What an observer hears of ``story()``.
    static let told = ["refreshFailed", "recovered", "error", "recovered", "stateChanged"]

    /// A login that dies, lives again, needs its user, is revived and ended.
    func story() async throws {
        let login = try await addChain()
        try await kill(login)
        try await users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("3"), refreshToken: Sample.refreshToken("3"))
        transport.enqueue(.error("interaction_required"))
        _ = try? await users.updateAccessToken(userId: "alice")
        try await users.revive(.login(login.id))
        transport.fallback = .status(.ok)
        try await users.terminate(.login(login.id), reason: .globalBan)
        try await settleRevocations()
    }

    /// Lets the observer hear, while time goes by, until the condition holds; then it is stopped.
    func observe(
        _ observer: some LoginObserver, in other: Vault? = nil, after beginning: EventCursor? = nil,
        until isDone: @escaping @Sendable () async throws -> Bool
    ) async throws {
        let observation = LoginObservation(other ?? vault, observer, after: beginning)
        let task = Task { try await observation.run() }
        do { try await passTime(until: isDone) } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        try await task.value
    }

    /// Lets half a second pass again and again.
    func passTime(until isDone: () async throws -> Bool) async throws {
        try await eventually {
            if try await isDone() { return true }
            time.advance(by: .milliseconds(500))
            return false
        }
    }

    /// Whether some process delivers to the observer.
    func isDelivering(_ name: String) async throws -> Bool {
        try await vault.store.observer(name).map { $0.owner != 0 } ?? false
    }

    func cursor(_ name: String) async throws -> EventCursor? {
        try await vault.store.observer(name).flatMap { EventCursor($0.cursor) }
    }

    func service(_ observers: [Recorder]) async throws -> VaultService {
        try await VaultService(
            in: temporary.location, unlockedBy: .keyFile(temporary.keyFile), transport: ScriptedTransport(),
            options: VaultServiceOptions(
                users: World.options, scheduler: nil, observers: observers, newObserversBeginAfter: .start))
    }
}
