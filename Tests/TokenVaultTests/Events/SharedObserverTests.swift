import EngineSupport
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// Processes that run an observer of one name: each event is told once in all.
@Suite(.tags(.everyEngine))
struct SharedObserverTests {
    @Test func twoProcessesTellEachEventOnce() async throws {
        let world = try await World()
        let (other, users) = try await world.anotherProcess()
        let recorders = [Recorder(), Recorder()]
        let first = Task { try await LoginObservation(world.vault, recorders[0]).run() }
        try await eventually { try await world.isDelivering("mailer") }
        let second = Task { try await LoginObservation(other, recorders[1]).run() }
        try await world.story()
        let bob = try await users.addLogin(
            userId: "bob", provider: "acme", accessToken: Sample.accessToken("1"),
            refreshToken: Sample.refreshToken("1"))
        try await world.kill(bob)
        let told = World.told + ["refreshFailed"]
        try await world.passTime { recorders.flatMap(\.names).count >= told.count }
        // Turns that tell it again would come now.
        let head = try await world.vault.eventHead()
        try await world.passTime { try await world.cursor("mailer") == head }
        first.cancel()
        try await first.value
        // The one that was idle takes over, and knows what was told.
        try await world.kill(try await world.addChain(user: "carol"))
        try await world.passTime { recorders.flatMap(\.names).count > told.count }
        second.cancel()
        try await second.value
        #expect(recorders.map(\.names) == [told, ["refreshFailed"]])
        #expect(Set(recorders.flatMap(\.heard).compactMap(\.userId)) == ["alice", "bob", "carol"])
        await other.close()
    }

    /// It was told of an event, and has not said that it is done with it: then the next process tells it again.
    @Test func anotherTakesOverWhenTheProcessIsGone() async throws {
        let world = try await World()
        let (other, _) = try await world.anotherProcess()
        let gate = Gate()
        let (first, second) = (Recorder(gate: gate), Recorder())
        let lost = Task { try await LoginObservation(other, first, after: .start).run() }
        try await eventually { try await world.isDelivering("mailer") }
        try await world.kill(try await world.addChain())
        try await world.kill(try await world.addChain(user: "bob"))
        try await world.passTime { gate.waitingCount == 1 }
        let survivor = Task { try await LoginObservation(world.vault, second).run() }
        // Time alone takes nothing away from a process that lives.
        for _ in 0..<20 {
            world.time.advance(by: .seconds(600))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(second.names.isEmpty)
        await other.close()
        try await world.passTime { second.heard.count == 2 }
        gate.open()
        try await lost.value
        survivor.cancel()
        try await survivor.value
        #expect(first.heard.map(\.userId) == ["alice"])
        #expect(second.heard.map(\.userId) == ["alice", "bob"])
    }

    /// One that was taken for dead tells what it has begun, and nothing more.
    @Test func whoHasLostTheClaimTellsNothingMore() async throws {
        let world = try await World()
        let (other, _) = try await world.anotherProcess()
        let gate = Gate()
        let (first, second) = (Recorder(gate: gate), Recorder())
        for user in ["alice", "bob", "carol"] { try await world.kill(try await world.addChain(user: user)) }
        let robbed = Task { try await LoginObservation(other, first, after: .start).run() }
        try await eventually { gate.waitingCount == 1 }
        var record = try #require(try await other.store.observer("mailer"))
        record.owner = ObserverRecord.nobody
        #expect(try await other.store.advance(record))
        try await world.observe(second) {
            guard second.heard.count == 3 else { return false }
            gate.open()
            return true
        }
        robbed.cancel()
        try await robbed.value
        #expect(first.heard.map(\.userId) == ["alice"])
        #expect(second.heard.map(\.userId) == ["alice", "bob", "carol"])
        await other.close()
    }

    /// What an observer has heard in a vault that was put back to an earlier state may never have happened.
    @Test func aRestoreIsToldAsMissed() async throws {
        let world = try await World()
        try await world.kill(try await world.addChain())
        let before = Recorder()
        try await world.observe(before, after: .start) { before.heard.count == 1 }
        try await world.vault.store.holdAllLogins(AuditEvent(.vaultRestored))
        try await world.kill(try await world.addChain(user: "bob"))
        let after = Recorder(refusals: 1)
        try await world.observe(after) { after.heard.count == 2 }
        #expect(after.names == ["missed", "refreshFailed"] && after.refused == 1)
        #expect(after.heard.last?.userId == "bob")
        let later = Recorder()
        try await world.observe(later) { try await world.isDelivering("mailer") }
        #expect(later.names.isEmpty)
    }

    /// Nobody knows any more what such an observer has heard.
    @Test func aDamagedRowIsToldAsMissed() async throws {
        let world = try await World()
        try await world.kill(try await world.addChain())
        let before = Recorder()
        try await world.observe(before, after: .start) { before.heard.count == 1 }
        try world.temporary.intruder().execute(#"UPDATE "observer" SET "cursor" = '1'"#)
        let after = Recorder()
        try await world.observe(after) { after.heard.count == 1 }
        #expect(after.names == ["missed"])
        try await world.kill(try await world.addChain(user: "bob"))
        let later = Recorder()
        try await world.observe(later) { later.heard.count == 1 }
        #expect(later.names == ["refreshFailed"])
        #expect(try await world.vault.verify().isClean)
    }
}
