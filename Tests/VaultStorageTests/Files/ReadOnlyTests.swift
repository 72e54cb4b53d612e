import Foundation
import Glibc
import TestSupport
import Testing
import VaultCrypto
import VaultMigrations

@testable import VaultSQLite
@testable import VaultStorage

/// Snapshots, mounted backups and the like: what can be read is read, and nothing is written.
@Suite(.serialized, .enabled(if: geteuid() == 0, "only root can mount"))
struct ReadOnlyTests {
    private final class Mount {
        let path = NSTemporaryDirectory() + "/vault-mount-" + UUID().uuidString

        init(_ source: String = "tmpfs", _ type: String? = "tmpfs", _ flags: Int32 = 0) throws {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard unsafe mount(source, path, type, UInt(flags), type == nil ? nil : "size=4m,mode=700") == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
        }

        func remount(_ flags: Int32) throws {
            guard unsafe mount(nil, path, nil, UInt(Int32(MS_REMOUNT) | flags), nil) == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
        }

        deinit {
            _ = unsafe umount2(path, Int32(MNT_DETACH))
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Reads whatever can be read, and finds it whole.
    private func expectReadable(_ store: SQLiteVaultStore, users: [String]) async throws {
        for user in users { #expect(try await store.session(.user(user)).session.state == .established) }
        #expect(try await store.users(after: nil, limit: 10).count == users.count)
        #expect(try await store.logins(ofUser: nil, after: nil, limit: 10).count == users.count)
        #expect(try await store.statistics().users == users.count)
        #expect(try await store.verify().findings == [])
        #expect(try await store.auditEntries(after: 0, limit: 10).isEmpty == false)
        #expect(try await store.keySlots().count == 1)
        #expect(try store.spool.listings().isEmpty)
        #expect(store.readOnlyRefusal?.code == .readOnly)
    }

    private func expectUnwritable(_ store: SQLiteVaultStore, _ fixture: VaultFixture) async throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).sorted()
        let inserting = await #expect(throws: StoreError.self) { _ = try await store.insertLogin(fixture.draft("eve")) }
        #expect(inserting?.code == .readOnly)
        #expect(inserting?.message.contains("mounted read-only") == true)
        #expect(throws: StoreError.self) { try store.spool.prepare() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).sorted() == before)
    }

    @Test func aStoppedVaultIsReadAndVerified() async throws {
        let disk = try Mount()
        do {
            let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
            try await fixture.populateBriefly()
            // One whole file, as a backup holds it.
            try Connection(path: fixture.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for suffix in ["-wal", "-shm", ".lock"] { _ = unsafe unlink(fixture.path + suffix) }
            try disk.remount(Int32(MS_RDONLY))
            let store = try fixture.open()
            try await expectReadable(store, users: ["alice"])
            try await expectUnwritable(store, fixture)
            store.close()
            #expect(try SQLiteVaultStore.migrations(at: fixture.path).allSatisfy { $0.appliedAt != nil })
            try disk.remount(0)
            try fixture.open().close()
        }
    }

    /// A snapshot of a volume is what a loss of power leaves: with a log that is not empty.
    @Test func aSnapshotOfAVaultInUseIsReadWithItsLog() async throws {
        let disk = try Mount()
        do {
            let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
            let store = try fixture.create()
            _ = try await store.insertLogin(fixture.draft("alice"))
            let snapshot = try Mount()
            for name in try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path) {
                try FileManager.default.copyItem(
                    atPath: fixture.directory.file(name), toPath: snapshot.path + "/" + name)
            }
            store.close()
            let path = snapshot.path + "/vault.db"
            #expect(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0 > 0)
            try snapshot.remount(Int32(MS_RDONLY))
            let copy = try SQLiteVaultStore.open(at: path, unlocker: fixture.unlocker, clock: fixture.clock)
            try await expectReadable(copy, users: ["alice"])
            copy.close()
            // Without its index in shared memory the log cannot be read; it is not passed over.
            try snapshot.remount(0)
            _ = unsafe unlink(path + "-shm")
            try snapshot.remount(Int32(MS_RDONLY))
            let error = #expect(throws: StoreError.self) {
                try SQLiteVaultStore.open(at: path, unlocker: fixture.unlocker, clock: fixture.clock)
            }
            #expect(error?.code == .readOnly)
            #expect(error?.hint?.contains("vault.db-wal") == true)
        }
    }

    /// A container that may only read looks at a vault that others go on using.
    @Test func aVaultThatIsInUseElsewhereIsReadAsItIs() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        let view = try Mount(fixture.directory.path, nil, Int32(MS_BIND))
        try view.remount(Int32(MS_BIND) | Int32(MS_RDONLY))
        let reader = try SQLiteVaultStore.open(
            at: view.path + "/vault.db", unlocker: fixture.unlocker, clock: fixture.clock)
        try await expectReadable(reader, users: ["alice"])
        _ = try await store.insertLogin(fixture.draft("bob"))
        try await expectReadable(reader, users: ["alice", "bob"])
        try await expectUnwritable(reader, fixture)
        reader.close()
        _ = try await store.insertLogin(fixture.draft("carol"))
        #expect(try await store.verify().findings == [])
        store.close()
    }

    @Test func aVaultOfAnOlderVersionIsNotMigratedThere() async throws {
        let disk = try Mount()
        do {
            let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
            try await fixture.populateBriefly()
            try Connection(path: fixture.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
            try disk.remount(Int32(MS_RDONLY))
            let next = MigrationTests.next
            let migrator = Migrator(
                try VaultFile(fixture.path), migrations: MigrationTests.withNext, clock: fixture.clock)
            #expect(try migrator.status().last?.version == next.version)
            let error = #expect(throws: StoreError.self) { try migrator.migrate() }
            #expect(error?.code == .readOnly)
            let creating = #expect(throws: StoreError.self) {
                try SQLiteVaultStore.create(
                    at: fixture.directory.file("new.db"), firstSlot: fixture.unlocker, label: "", clock: fixture.clock)
            }
            #expect(creating?.code == .readOnly)
            #expect(creating?.message.contains("mounted read-only") == true)
        }
    }
}
