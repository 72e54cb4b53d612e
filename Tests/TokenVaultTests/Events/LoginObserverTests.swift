import EngineSupport
import FoundationEssentials
import OAuthClient
import Synchronization
import Testing
import TokenVaultTesting
import VaultAdministration

@testable import TokenVault

/// Observers hear of deaths, needs and recoveries, beside whoever supplies tokens, and over restarts.
struct LoginObserverTests {
    private struct Refusal: Error {}

    /// Keeps its cursor as an app's database would, so that another one can go on from it.
    private final class Recorder: LoginObserver {
        struct State: Sendable {
            var heard: [SessionEvent] = []
            var cursor: EventCursor?
            /// How many events are refused before one is taken.
            var refusals = 0
            var refused = 0
            var saves = 0
        }

        let state: Mutex<State>

        init(_ cursor: EventCursor? = nil, refusals: Int = 0) {
            state = Mutex(State(cursor: cursor, refusals: refusals))
        }

        var names: [String] { state.withLock { $0.heard.map(\.kind.name) } }
        var cursor: EventCursor? { state.withLock { $0.cursor } }
        var refused: Int { state.withLock { $0.refused } }

        func observe(_ event: SessionEvent) async throws {
            try state.withLock { state in
                guard state.refusals == 0 else {
                    state.refusals -= 1
                    state.refused += 1
                    throw Refusal()
                }
                state.heard.append(event)
            }
        }

        func save(_ cursor: EventCursor) async throws {
            state.withLock { ($0.cursor, $0.saves) = (cursor, $0.saves + 1) }
        }
        func savedCursor() async throws -> EventCursor? { cursor }
    }

    /// Lets the observer hear, while time goes by, until the condition holds.
    private func observe(_ world: World, _ recorder: Recorder, until isDone: @escaping @Sendable () -> Bool)
        async throws
    {
        let observation = LoginObservation(world.vault, recorder)
        let task = Task { try await observation.run() }
        while !isDone() {
            world.time.advance(by: .milliseconds(500))
            try await Task.sleep(for: .milliseconds(2))
        }
        task.cancel()
        try await task.value
    }

    /// A login that dies, lives again, needs its user, is revived and ended.
    private func story(_ world: World) async throws {
        let login = try await world.addChain()
        try await world.kill(login)
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("3"), refreshToken: Sample.refreshToken("3"))
        world.transport.enqueue(.error("interaction_required"))
        _ = try? await world.users.updateAccessToken(userId: "alice")
        try await world.users.revive(.login(login.id))
        world.transport.fallback = .status(.ok)
        try await world.users.terminate(.login(login.id), reason: .globalBan)
        try await world.settleRevocations()
    }

    private static let told = ["refreshFailed", "recovered", "error", "recovered", "stateChanged"]

    @Test func itHearsWhatPeopleMustKnowAndNothingElse() async throws {
        let world = try await World()
        try await story(world)
        let recorder = Recorder(.start)
        try await observe(world, recorder) { recorder.names.count >= Self.told.count }
        #expect(recorder.names == Self.told)
    }

    @Test func theFirstStartBeginsWithWhatIsNew() async throws {
        let world = try await World()
        try await story(world)
        let recorder = Recorder()
        try await observe(world, recorder) { recorder.cursor != nil }
        #expect(recorder.names.isEmpty)
        let second = try await world.addChain(user: "bob")
        try await world.kill(second)
        let next = Recorder(recorder.cursor)
        try await observe(world, next) { !next.names.isEmpty }
        #expect(next.names == ["refreshFailed"])
        #expect(next.state.withLock { $0.heard.first?.userId } == "bob")
    }

    /// What dies while no process runs, too.
    @Test func whatWasNotTakenComesAgainAfterARestart() async throws {
        let world = try await World()
        let first = Recorder(.start, refusals: .max)
        try await story(world)
        try await observe(world, first) { first.refused > 2 }
        #expect(first.names.isEmpty)
        let second = Recorder(first.cursor, refusals: 3)
        try await observe(world, second) { second.names.count >= Self.told.count }
        #expect(second.names == Self.told)
        let third = Recorder(second.cursor)
        try await observe(world, third) { third.cursor != nil }
        #expect(third.names.isEmpty)
    }

    @Test func aServiceTellsItsObserversAndEndsWithThem() async throws {
        let world = try await World()
        try await story(world)
        let recorder = Recorder(.start)
        let service = try await VaultService(
            in: world.temporary.location, unlockedBy: .keyFile(world.temporary.keyFile), transport: ScriptedTransport(),
            options: VaultServiceOptions(users: World.options, scheduler: nil, observers: [recorder]))
        let task = Task { try await service.run() }
        while recorder.names.count < Self.told.count { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        try await task.value
        #expect(recorder.names == Self.told)
        #expect(await code(of: { try await service.vault.status() }) == .closed)
    }
}
