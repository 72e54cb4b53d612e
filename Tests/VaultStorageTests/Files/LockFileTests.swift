import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// The lock file goes, at every step of a renewal in another process. Nobody else may take that renewal over while the
/// process lives, and everybody may once it is gone.
@Suite struct LockFileTests {
    enum Loss: CaseIterable {
        case removed, moved, replacedByEmpty, replacedByCopy, emptied
    }

    enum Step: Int, CaseIterable {
        case claimed, sent, spooled
    }

    private func lose(_ path: String, _ loss: Loss) throws {
        switch loss {
        case .removed: try check(unsafe unlink(path))
        case .moved: try check(unsafe rename(path, path + "-moved"))
        case .replacedByEmpty:
            try check(unsafe unlink(path))
            let number = unsafe Glibc.open(path, O_CREAT | O_EXCL | O_RDWR, 0o600)
            try check(number)
            close(number)
        case .replacedByCopy:
            try FileManager.default.copyItem(atPath: path, toPath: path + "-copy")
            try check(unsafe rename(path + "-copy", path))
        case .emptied: try check(unsafe truncate(path, 0))
        }
    }

    private func check(_ result: Int32) throws {
        if result < 0 { throw POSIXError(.EIO) }
    }

    private func probe(_ fixture: VaultFixture, at step: Step) throws -> (Probe, Int64) {
        let probe = try Probe(["claim", fixture.path, fixture.keyFile])
        var lines = probe.lines { $0.contains { $0.hasPrefix("claimed") } }
        let owner = try #require(lines.first { $0.hasPrefix("owner ") }.flatMap { Int64($0.dropFirst(6)) })
        for word in ["sent", "spooled"].prefix(step.rawValue) {
            probe.goOn()
            lines = probe.lines { $0.contains { $0.hasPrefix(word) } }
        }
        return (probe, owner)
    }

    @Test(arguments: Loss.allCases, Step.allCases)
    func aLivingProcessIsNotRobbed(loss: Loss, step: Step) async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let (probe, owner) = try probe(fixture, at: step)
        let witness = try fixture.open()
        #expect(witness.isOwnerAlive(owner))
        try lose(fixture.path + ".lock", loss)
        let newcomer = try fixture.open()
        for store in [witness, newcomer] {
            #expect(store.isOwnerAlive(owner), "\(loss) when \(step)")
            #expect(try store.spool.listings().isEmpty)
        }
        if step == .claimed, loss != .emptied {
            // It sees for itself that it must not send.
            probe.goOn()
            #expect(probe.lines { $0.contains { $0.hasPrefix("sent") } }.contains("sent false"))
        }
        witness.close()
        // Killed, it is not known as dead to who cannot see its byte, and to whom it may still have the vault open.
        _ = probe.kill()
        #expect(newcomer.isOwnerAlive(owner))
        newcomer.close()
        let next = try fixture.open()
        #expect(!next.isOwnerAlive(owner), "\(loss) when \(step)")
        #expect(try next.spool.listings().count == (step == .spooled ? 1 : 0))
        next.close()
    }

    @Test func itsOwnLateReplyIsStored() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let (probe, owner) = try probe(fixture, at: .spooled)
        try lose(fixture.path + ".lock", .removed)
        let newcomer = try fixture.open()
        #expect(newcomer.isOwnerAlive(owner))
        probe.goOn()
        _ = probe.lines { $0.contains("stored") }
        #expect(try await newcomer.login(newcomer.session(.user("alice")).login).intent == nil)
        probe.goOn()
        _ = probe.lines { $0.contains("closed") }
        #expect(probe.wait() == 0)
        #expect(try await newcomer.verify().findings == [])
        newcomer.close()
    }

    /// The file of a crashed process, of a vault that was copied without it, of an older version: nobody has the vault open.
    @Test func whoIsAloneKnowsThatTheOthersHaveGone() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let (probe, owner) = try probe(fixture, at: .spooled)
        _ = probe.kill()
        try lose(fixture.path + ".lock", .removed)
        let first = try fixture.open()
        #expect(!first.isOwnerAlive(owner))
        #expect(try first.spool.listings().count == 1)
        // An owner of whom nothing is known.
        #expect(first.isOwnerAlive(owner ^ 1))
        let second = try fixture.open()
        #expect(second.isOwnerAlive(owner))
        first.close()
        second.close()
    }

    /// With the file goes the mark that the WAL may end with what was never synced.
    @Test func aWALWithoutItsLockFileIsDoubtful() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let (probe, _) = try probe(fixture, at: .claimed)
        _ = probe.kill()
        let known = try fixture.open()
        #expect(!known.place.isWALDoubtful)
        known.close()
        let (again, _) = try self.probe(fixture, at: .claimed)
        _ = again.kill()
        try lose(fixture.path + ".lock", .removed)
        let store = try fixture.open()
        #expect(store.place.isWALDoubtful)
        _ = try await store.insertLogin(fixture.draft("bob"))
        #expect(!store.place.isWALDoubtful)
        #expect(try await store.verify().findings == [])
        store.close()
    }

    /// Of two processes that close at once, the second waits until the first has closed; but not for ever, because one of
    /// them may have been stopped.
    @Test func theClosingTurnIsTakenByOneAtATime() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        var first = LockFile(besideVaultAt: fixture.path, creating: true)
        first?.takeClosingTurn()
        let isFree = Atomic<Bool>(false)
        let waiting = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let turn = Mutex<(wasFree: Bool, waited: Duration)>((false, .zero))
        Thread.detachNewThread { [path = fixture.path] in
            let second = LockFile(besideVaultAt: path)
            waiting.signal()
            let start = ContinuousClock.now
            second?.takeClosingTurn()
            turn.withLock { $0 = (isFree.load(ordering: .acquiring), start.duration(to: .now)) }
            ended.signal()
        }
        waiting.wait()
        usleep(20_000)
        isFree.store(true, ordering: .releasing)
        first = nil
        ended.wait()
        let (wasFree, waited) = turn.withLock { $0 }
        #expect(wasFree || waited >= .seconds(2), "the turn was taken after \(waited), and was not free")
    }

    @Test func manyProcessesAgreeOnOneFile() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        try lose(fixture.path + ".lock", .removed)
        let stores = try await withThrowingTaskGroup(of: SQLiteVaultStore.self) { group in
            for _ in 0..<8 { group.addTask { try fixture.open() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(stores.map(\.owner)).count == 8)
        for store in stores {
            for other in stores { #expect(store.isOwnerAlive(other.owner)) }
            #expect(!store.isOwnerAlive(store.owner ^ 1))
        }
        for store in stores { store.close() }
    }
}
