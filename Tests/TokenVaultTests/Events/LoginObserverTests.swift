import EngineSupport
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Observers hear of deaths, needs and recoveries, beside whoever supplies tokens, and over restarts.
@Suite(.tags(.everyEngine))
struct LoginObserverTests {
    @Test func itHearsWhatPeopleMustKnowAndNothingElse() async throws {
        let world = try await World()
        try await world.story()
        let recorder = Recorder()
        try await world.observe(recorder, after: .start) { recorder.names.count >= World.told.count }
        #expect(recorder.names == World.told)
    }

    @Test func aNewObserverBeginsWithWhatIsNew() async throws {
        let world = try await World()
        try await world.story()
        let recorder = Recorder()
        try await world.observe(recorder) { try await world.vault.store.observer("mailer") != nil }
        #expect(recorder.names.isEmpty)
        try await world.kill(try await world.addChain(user: "bob"))
        let next = Recorder()
        // Where a new one would begin no longer matters.
        try await world.observe(next, after: .start) { !next.names.isEmpty }
        #expect(next.names == ["refreshFailed"])
        #expect(next.heard.first?.userId == "bob")
        let other = Recorder(name: "other")
        try await world.observe(other, after: .start) { other.names.count > World.told.count }
        #expect(other.names == World.told + ["refreshFailed"])
    }

    /// What dies while no process runs, too.
    @Test func whatWasNotTakenComesAgainAfterARestart() async throws {
        let world = try await World()
        let first = Recorder(refusals: .max)
        try await world.story()
        try await world.observe(first, after: .start) { first.refused > 2 }
        #expect(first.names.isEmpty)
        let second = Recorder(refusals: 3)
        try await world.observe(second) { second.names.count >= World.told.count }
        #expect(second.names == World.told && second.refused == 3)
        let third = Recorder()
        try await world.observe(third) { try await world.isDelivering("mailer") }
        #expect(third.names.isEmpty)
    }

    /// A token that is renewed is no news for an observer, and must not cost another commit each time.
    @Test func rowsWithoutNewsAreStoredNowAndThen() async throws {
        let world = try await World()
        let login = try await world.addChain()
        for number in 0..<5 { try await world.set(login, "\(number)") }
        try await world.kill(login)
        let (gate, recorder) = (Gate(), Recorder())
        let held = Recorder(gate: gate)
        let observation = Task { try await LoginObservation(world.vault, held, after: .start).run() }
        // No time goes by: all rows are read at once.
        try await eventually { gate.waitingCount == 1 }
        #expect(held.names == ["refreshFailed"])
        #expect(try await world.cursor("mailer") == .start)
        let head = try await world.vault.eventHead()
        gate.open()
        try await eventually { try await world.cursor("mailer") == head }
        try await world.set(login, "6")
        let next = try await world.vault.eventHead()
        try await world.passTime { try await world.cursor("mailer") == next }
        observation.cancel()
        try await observation.value
        try await world.observe(recorder) { try await world.isDelivering("mailer") }
        #expect(held.names == ["refreshFailed", "recovered"] && recorder.names.isEmpty)
    }

    /// Whoever was told that events are missing, and then refused the next one, is not told again.
    @Test func aGapIsToldOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        try await world.kill(login)
        let early = try await world.vault.eventHead()
        for number in 0..<1_200 { try await world.set(login, "\(number)") }
        world.time.advance(by: .seconds(200 * 86_400))
        try await world.vault.pruneAudit()
        try await world.kill(try await world.addChain(user: "bob"))
        let recorder = Recorder(refusals: 3) { $0.kind.name == "refreshFailed" }
        try await world.observe(recorder, after: early) { recorder.names.contains("refreshFailed") }
        #expect(recorder.names.filter { $0 == "missed" }.count == 1)
        #expect(recorder.names.last == "refreshFailed" && recorder.refused == 3)
    }

    @Test func aServiceTellsItsObserversAndEndsWithThem() async throws {
        let world = try await World()
        try await world.story()
        let recorder = Recorder()
        let service = try await world.service([recorder])
        let task = Task { try await service.run() }
        try await eventually { recorder.names.count >= World.told.count }
        task.cancel()
        try await task.value
        #expect(recorder.names == World.told)
        #expect(await code(of: { try await service.vault.status() }) == .closed)
    }

    @Test func twoObserversOfOneNameAreRefused() async throws {
        let world = try await World()
        for names in [["mailer", "mailer"], [""], ["a b"], ["a", String(repeating: "a", count: 65)], ["\u{1D}a"]] {
            let observers = names.map { Recorder(name: $0) }
            #expect(await code { try await world.service(observers) } == .invalidArgument, "\(names)")
        }
        try await world.service([Recorder(name: "mailer"), Recorder(name: "Mailer.v2_x-1")]).close()
    }

    /// The names of a tenant's user and provider are plain, and the tenant is beside them.
    @Test func anEventSaysOfWhichTenantItIs() async throws {
        let world = try await World()
        let tenant = try #require(Tenant("contoso"))
        try await world.vault.addProvider(Sample.provider(), of: tenant)
        let login = try await world.users.scoped(to: tenant).addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken("1"),
            refreshToken: Sample.refreshToken("1"))
        try await world.kill(login)
        try await world.kill(try await world.addChain())
        let recorder = Recorder()
        try await world.observe(recorder, after: .start) { recorder.names.count >= 2 }
        #expect(recorder.heard.map(\.userId) == ["alice", "alice"])
        #expect(recorder.heard.map(\.tenant) == [tenant, nil])
    }
}
