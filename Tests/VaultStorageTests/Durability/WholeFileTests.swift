import Foundation
import TestSupport
import Synchronization
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A vault that nobody has open is one file. A copy of it is a vault.
@Suite struct WholeFileTests {
    @Test func aNewVaultIsOneWholeFile() async throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        try await fixture.expectWhole { try await $0.keySlots().count == 1 }
    }

    @Test func theLastStoreLeavesOneWholeFile() async throws {
        let fixture = try VaultFixture()
        let first = try fixture.create()
        let login = try await first.insertLogin(fixture.draft("alice")).handle
        let (second, third) = (try fixture.open(), try fixture.open())
        try await second.updateLogin(login) { $0.session.attempts = 2 }
        first.close()
        _ = try await third.session(.user("alice"))
        second.close()
        #expect(fixture.walSize > 0)
        // It has only read.
        third.close()
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 2 }
    }

    @Test func aStoreThatIsDroppedLeavesOneWholeFile() async throws {
        let fixture = try VaultFixture()
        do {
            let store = try fixture.create()
            _ = try await store.insertLogin(fixture.draft("alice"))
            store.close()
            store.close()
        }
        try await fixture.expectWhole { try await $0.session(.user("alice")).session.state == .established }
        do { _ = try await fixture.open().session(.user("alice")) }
        try await fixture.expectWhole { try await $0.session(.user("alice")).session.state == .established }
    }

    /// Of two that close at the same moment each could take the other one for the last.
    @Test func oneOfTwoThatCloseAtOnceIsTheLast() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        var left = 0
        for round in 0..<200 {
            let stores = try (0..<3).map { _ in try fixture.open() }
            try await stores[round % 3].updateLogin(login) { $0.session.attempts += 1 }
            let turn = DispatchSemaphore(value: 0)
            let end = DispatchGroup()
            for store in stores {
                end.enter()
                Thread.detachNewThread {
                    turn.wait()
                    store.close()
                    end.leave()
                }
            }
            for _ in stores { turn.signal() }
            await withCheckedContinuation { continuation in
                end.notify(queue: .global()) { continuation.resume() }
            }
            if fixture.walSize > 0 { left += 1 }
        }
        #expect(left == 0)
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 200 }
    }

    @Test func whoStillReadsAtTheEndLeavesOneWholeFile() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        let isOpen = Mutex(true)
        _ = try await store.verify { _ in
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            if wasOpen { store.close() }
        }
        #expect(!isOpen.withLock { $0 })
        try await fixture.expectWhole { try await $0.session(.user("alice")).session.state == .established }
    }

    @Test func whoComesAfterAKilledProcessLeavesOneWholeFile() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        #expect(try Probe(fixture, visits: login, "kill").wait() != 0)
        #expect(fixture.walSize > 0)
        _ = try await fixture.open().session(.user("alice"))
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 1 }
        // Nor does it matter if he has no key for it.
        #expect(try Probe(fixture, visits: login, "kill").wait() != 0)
        _ = try KeyFile.create(at: fixture.directory.file("other.key"))
        let error = #expect(throws: StoreError.self) {
            try SQLiteVaultStore.open(
                at: fixture.path, unlocker: KeyFileUnlocker(path: fixture.directory.file("other.key")),
                clock: fixture.clock)
        }
        #expect(error?.code == .wrongKey)
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 2 }
    }

    @Test func otherProcessesArePassedOver() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        let other = try Probe(fixture, visits: login, "linger")
        let store = try fixture.open()
        try await store.updateLogin(login) { $0.session.attempts = 7 }
        store.close()
        #expect(fixture.walSize > 0)
        #expect(other.release() == 0)
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 7 }
    }

    /// What a commit that failed has left in the WAL may never have reached the disk.
    @Test func aDoubtfulWALIsLeftToTheNextWriter() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        store.place.isWALDoubtful = true
        store.close()
        #expect(fixture.walSize > 0)
        let next = try fixture.open()
        try await next.updateLogin(login) { $0.session.attempts = 1 }
        #expect(!next.place.isWALDoubtful)
        next.close()
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 1 }
    }

    /// The file of that name may be somebody else's by now.
    @Test(arguments: ["-wal", "-shm"]) func whatWasReplacedIsNotTouched(suffix: String) async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        let size = try FileManager.default.attributesOfItem(atPath: fixture.path)[.size] as? Int
        try FileManager.default.moveItem(atPath: fixture.path + suffix, toPath: fixture.path + ".kept")
        try FileManager.default.copyItem(atPath: fixture.path + ".kept", toPath: fixture.path + suffix)
        store.close()
        #expect(try FileManager.default.attributesOfItem(atPath: fixture.path)[.size] as? Int == size)
        #expect(fixture.walSize > 0)
    }

    @Test func aMigrationDoesNotBuildOnADoubtfulWAL() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.populateBriefly("alice")
        try fixture.putSchemaBackAndLeaveLog()
        let mark = try #require(LockFile(besideVaultAt: fixture.path))
        mark.isWALDoubtful = true
        let reader = try RawDatabase(fixture.path)
        try reader.execute("BEGIN; SELECT count(*) FROM login")
        let error = #expect(throws: StoreError.self) {
            try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock)
        }
        #expect(error?.code == .busy)
        #expect(mark.isWALDoubtful)
        #expect(try SQLiteVaultStore.migrations(at: fixture.path).last?.appliedAt == nil)
        try reader.execute("COMMIT")
        _ = try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock)
        #expect(!mark.isWALDoubtful)
        try fixture.open().close()
    }

    @Test func aMigrationLeavesOneWholeFile() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.populateBriefly("alice")
        try fixture.putSchemaBack()
        _ = try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock)
        #expect(fixture.walSize == 0)
        _ = try SQLiteVaultStore.migrations(at: fixture.path)
        try fixture.open().close()
        try await fixture.expectWhole { store in
            try await store.auditEntries(after: 0, limit: 100).contains { $0.kind == .vaultMigrated }
        }
    }
}

extension VaultFixture {
    var walSize: Int { WALFile.size(besideVaultAt: path) }

    /// Makes a vault with one login, and lets go of all its files.
    func populateBriefly(_ user: String) async throws -> LoginHandle {
        let store = try create()
        defer { store.close() }
        return try await store.insertLogin(draft(user)).handle
    }

    /// Makes it a vault of the fifth schema version again.
    func putSchemaBack() throws {
        #expect(SQLiteVaultStore.schemaVersion == OlderSchemas.newest)
        let store = try open()
        let context = store.context
        store.close()
        try edit(OlderSchemas.five)
        try takeRevisionOfVaultFromTrail(context)
    }

    /// The same, with a change in a WAL that a killed process has left: `migration` says that version 1 was applied at 77 ms.
    func putSchemaBackAndLeaveLog() throws {
        try putSchemaBack()
        do {
            // Closes without a checkpoint.
            let connection = try Connection(path: path)
            try connection.configure()
            try connection.execute("UPDATE migration SET appliedAt = 77 WHERE version = 1")
        }
        #expect(walSize > 0)
    }

    /// Programs before version 6 told no revision of the vault's row: the chain is what it would be without.
    private func takeRevisionOfVaultFromTrail(_ context: VaultContext) throws {
        let connection = try Connection(path: path)
        let rows = try Statement(
            connection,
            "SELECT sequence, time, kind, user, login, provider, revision, detailCell FROM audit ORDER BY sequence")
        var links: [(sequence: Int64, revision: Int64?, mac: AuditMAC)] = []
        while try rows.step() {
            var columns = AuditColumns(rows)
            if columns.user == nil, columns.provider == nil { columns.revision = nil }
            let tag = rows.isNull(7) ? nil : try SealedCell.tag(of: rows.bytes(7))
            let mac = columns.link(
                context.vaultID, context.keyring, previous: links.last?.mac ?? .genesis, detailTag: tag)
            links.append((columns.sequence, columns.revision, mac))
        }
        rows.reset()
        let update = try Statement(connection, "UPDATE audit SET revision = ?2, mac = ?3 WHERE sequence = ?1")
        for link in links {
            update.bind(1, link.sequence)
            update.bind(2, link.revision)
            update.bind(3, link.mac.array)
            try update.run()
        }
    }

    /// Checks that nothing is outside of the vault's file, and that a copy of it alone is a vault.
    func expectWhole(
        sourceLocation: SourceLocation = #_sourceLocation, _ isThere: (SQLiteVaultStore) async throws -> Bool
    ) async throws {
        #expect(walSize == 0, sourceLocation: sourceLocation)
        let copy = directory.file("copy-\(UUID().uuidString)")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let store = try SQLiteVaultStore.open(at: copy, unlocker: unlocker, clock: clock)
        defer { store.close() }
        #expect(try await isThere(store), sourceLocation: sourceLocation)
        #expect(try await store.verify().findings == [], sourceLocation: sourceLocation)
    }
}
