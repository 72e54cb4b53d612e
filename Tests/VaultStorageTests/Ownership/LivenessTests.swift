import Foundation
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Hosts that fork, or close what they did not open. In processes of their own: what they do concerns all of a process.
@Suite struct LivenessTests {
    private func owner(_ lines: [String]) throws -> Int64 {
        try #require(lines.first { $0.hasPrefix("owner ") }.flatMap { Int64($0.dropFirst(6)) })
    }

    @Test func aForkIsRefusedEverythingAndHarmsNothing() async throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let probe = try Probe(["fork", fixture.path, fixture.keyFile])
        let lines = probe.lines { $0.contains("child closed") && $0.contains { $0.hasPrefix("parent owns") } }
        let calls = [
            "session", "login", "users", "statistics", "verify", "openIntents", "prepareSpool", "spool", "unspool",
            "spooledReplies", "open", "migrate",
        ]
        for call in calls { #expect(lines.contains("child \(call) ownershipLost"), "\(call): \(lines)") }
        #expect(lines.contains("child owns false"))
        #expect(lines.contains("child frees false"))
        #expect(lines.contains("parent owns true"))
        print("fork: \(calls.count) calls refused")

        let child = try #require(
            lines.first { $0.hasPrefix("child-process ") }.flatMap { pid_t($0.dropFirst(14)) })
        let owner = try owner(lines)
        let store = try fixture.open()
        #expect(store.isOwnerAlive(owner))
        #expect(try store.spool.listings().isEmpty)
        probe.killAlone()
        try await eventually { !store.isOwnerAlive(owner) }
        // The fork lives, and keeps nobody from taking over.
        #expect(Foundation.kill(child, 0) == 0)
        #expect(!store.isOwnerAlive(owner))
        let left = try store.spool.listings()
        #expect(left.count == 1 && left.first?.reply != nil)
        for listing in left { try store.spool.remove(try #require(listing.handle)) }
        #expect(try fixture.spoolFiles() == [])
        Foundation.kill(child, SIGKILL)
        _ = probe.wait()
        #expect(try await store.session(.user("liveness-\(owner)")).session.attempts == 20)
        #expect(try await store.verify().findings == [])
    }

    @Test func aForkOfAProcessWithManyVaultsKeepsNoneOfTheirLocks() throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let probe = try Probe(["fork-many", fixture.path, fixture.keyFile])
        let lines = probe.lines()
        #expect(probe.wait() == 0)
        let held = try #require(
            lines.first { $0.hasPrefix("parent holds ") }.flatMap { Int($0.dropFirst("parent holds ".count)) })
        #expect(held > 64, "\(lines)")
        #expect(lines.contains("child holds 0"), "\(lines)")
        #expect(lines.contains("parent owns 59"), "\(lines)")
    }

    /// SQLite does not notice that its descriptors are gone, and that their numbers are another file's.
    @Test(arguments: ["closefrom", "read-closefrom"])
    func aHostThatClosesDescriptorsIsCaught(mode: String) async throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let probe = try Probe([mode, fixture.path, fixture.keyFile])
        let lines = probe.lines()
        #expect(probe.wait() == 0, "\(lines)")
        #expect(lines.contains("owns false") && !lines.contains("owns true"), "\(lines)")
        #expect(lines.contains("write ownershipLost"), "\(lines)")
        #expect(lines.contains("read ownershipLost"), "\(lines)")
        #expect(lines.contains("spool fine"), "\(lines)")
        // Neither written to, nor closed.
        #expect(lines.contains("bystander 100 untouched"), "\(lines)")

        let owner = try owner(lines)
        let store = try fixture.open()
        #expect(!store.isOwnerAlive(owner))
        #expect(try await store.session(.user("liveness-\(owner)")).session.attempts == 0)
        #expect(try store.spool.listings().count { $0.reply != nil } == 1)
        #expect(try await store.verify().findings == [])
    }

    /// Somebody who tidies up: others lock another file of that name from now on, and see nobody of this one.
    @Test func aReplacedLockFileFreesNobody() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let other = try fixture.open()
        #expect(store.ownsItsLock && other.ownsItsLock)
        let dead = store.owner ^ 1
        #expect(!store.isOwnerAlive(dead))
        let lockPath = fixture.path + ".lock"
        let kept = fixture.directory.file("kept")
        #expect(unsafe rename(lockPath, kept) == 0)
        #expect(!store.ownsItsLock)
        #expect(store.isOwnerAlive(other.owner) && store.isOwnerAlive(dead))
        let newcomer = try fixture.open()
        #expect(newcomer.ownsItsLock && !store.ownsItsLock)
        #expect(store.isOwnerAlive(dead))
        newcomer.close()
        #expect(unsafe rename(kept, lockPath) == 0)
        #expect(store.ownsItsLock && !store.isOwnerAlive(dead))
    }

    @Test func aClosedStoreIsDeadToOthersAndKnowsOfNoDeath() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let other = try fixture.open()
        #expect(other.isOwnerAlive(store.owner))
        store.close()
        #expect(!other.isOwnerAlive(store.owner))
        #expect(!store.ownsItsLock && store.isOwnerAlive(store.owner ^ 1))
    }

    /// As a program has them that a host starts, until it runs.
    @Test func aClosedStoreIsDeadWhileACopyOfItsFileIsOpen() throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let other = try fixture.open()
        let copies = try descriptors(of: fixture.path + ".lock").map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
        defer { for copy in copies { _ = close(copy) } }
        #expect(copies.count >= 4 && copies.allSatisfy { $0 >= 0 })
        store.close()
        #expect(!other.isOwnerAlive(store.owner))
        #expect(other.ownsItsLock)
    }

    private func descriptors(of path: String) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
