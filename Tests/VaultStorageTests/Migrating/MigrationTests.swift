import Foundation
import TestSupport
import Testing
import VaultCrypto
import VaultMigrations

@testable import VaultSQLite
@testable import VaultStorage

struct MigrationTests {
    static let next = Migration(
        version: Migrations.all.count + 1, name: "v999_add_note", sql: "ALTER TABLE provider ADD COLUMN note TEXT;")
    static let withNext = Migrations.all + [next]
    private let next = MigrationTests.next

    private func migrator(_ fixture: VaultFixture, _ migrations: [Migration] = withNext) throws -> Migrator {
        Migrator(try VaultFile(fixture.path), migrations: migrations, clock: fixture.clock)
    }

    private func snapshots(_ fixture: VaultFixture) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).filter {
            $0.contains("before-migration")
        }
    }

    /// Each new step makes it another one. `TOKENVAULT_SCHEMA_OUT=Migrations/SQL/schema.txt swift test --filter
    /// theSchemaThatIsWrittenDownIsWhatTheStepsMake` writes it anew.
    @Test func theSchemaThatIsWrittenDownIsWhatTheStepsMake() throws {
        let made = try VaultSchema(after: Migrations.all)
        if let path = ProcessInfo.processInfo.environment["TOKENVAULT_SCHEMA_OUT"] {
            try made.text.write(toFile: path, atomically: false, encoding: .utf8)
        } else {
            #expect(VaultSchema.current.rows == made.rows)
            #expect(made.rows.count > 30)
        }
    }

    @Test func aNewVaultHasNothingPending() throws {
        let fixture = try VaultFixture()
        _ = try fixture.create()
        let steps = try SQLiteVaultStore.migrations(at: fixture.path)
        #expect(steps.map(\.version) == Migrations.all.map(\.version))
        #expect(steps.allSatisfy { $0.appliedAt == fixture.now })
        #expect(try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock) == nil)
        #expect(try snapshots(fixture).isEmpty)
    }

    @Test func olderVaultIsRefusedUntilMigratedAndIsCopied() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let migrator = Migrator(try VaultFile(fixture.path), migrations: Migrations.all + [next], clock: fixture.clock)
        #expect(try migrator.status().last?.appliedAt == nil)
        let check = #expect(throws: StoreError.self) {
            try VaultSchema.check(try Connection(path: fixture.path), migrations: Migrations.all + [next])
        }
        #expect(check?.code == .migrationNeeded(found: Migrations.all.count, known: next.version))
        let snapshot = try #require(try migrator.migrate())
        #expect(try migrator.status().last?.appliedAt == fixture.now)
        let attributes = try FileManager.default.attributesOfItem(atPath: snapshot)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let newer = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(newer?.code == .newerSchema(found: next.version, known: Migrations.all.count))
        let old = try SQLiteVaultStore.open(at: snapshot, unlocker: fixture.unlocker, clock: fixture.clock)
        await #expect(try old.session(.user("alice")).session.state == .established)
        #expect(try await old.verify().findings == [])
    }

    @Test func aStepThatFailsChangesNothing() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let broken = Migration(
            version: next.version, name: "v999_break", sql: "CREATE TABLE a (b); SELECT * FROM none;")
        let migrator = Migrator(
            try VaultFile(fixture.path), migrations: Migrations.all + [broken], clock: fixture.clock)
        #expect(throws: StoreError.self) { try migrator.migrate() }
        _ = try fixture.open()
        #expect(try snapshots(fixture).isEmpty, "the vault is as it was, and needs no copy")
    }

    // MARK: Snapshots

    @Test func oneSnapshotOfEachVersionIsKept() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let version = Migrations.all.count
        // One of a former version of the program, and what a killed process left.
        let former =
            "\(try VaultFile(fixture.path).path).before-migration-\(version)-\(Base32.encode(SecureRandom.bytes16()))"
        for name in [former, "\(fixture.path).before-migration-\(version).partial"] {
            try Data("old".utf8).write(to: URL(filePath: name))
        }
        #expect(try SQLiteVaultStore.migrationSnapshots(at: fixture.path).map(\.path) == [former])
        let path = try #require(try migrator(fixture).migrate())
        #expect(try snapshots(fixture) == ["vault.db.before-migration-\(version)"])
        let snapshot = try #require(try SQLiteVaultStore.migrationSnapshots(at: fixture.path).first)
        #expect(snapshot.path == path)
        #expect(snapshot.schemaVersion == version)
        #expect(snapshot.madeAt == fixture.now)
        #expect(snapshot.byteCount > 100_000)
        #expect(
            try SQLiteVaultStore.discardMigrationSnapshots(at: fixture.path) { $0.schemaVersion == version + 1 } == [])
        #expect(try SQLiteVaultStore.discardMigrationSnapshots(at: fixture.path) { _ in true } == [snapshot])
        #expect(try snapshots(fixture).isEmpty)
    }

    @Test func aSnapshotHoldsWhatWasCommittedLast() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        // The vault is in use, and most of it is in the log.
        let path = try #require(try migrator(fixture).migrate())
        store.close()
        let old = try SQLiteVaultStore.open(at: path, unlocker: fixture.unlocker, clock: fixture.clock)
        #expect(try await old.verify().findings == [])
        await #expect(try old.statistics().users == 1)
        old.close()
    }

    @Test func aSnapshotIsRemovedAfterAMonth() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let older = "\(fixture.path).before-migration-3"
        try Data("old".utf8).write(to: URL(filePath: older))
        unsafe #expect(chmod(older, 0o600) == 0)
        let made = Date(timeIntervalSince1970: Double(fixture.now.milliseconds) / 1000)
        try FileManager.default.setAttributes([.modificationDate: made], ofItemAtPath: older)
        fixture.advance(by: .seconds(30 * 86_400))
        try fixture.open().close()
        #expect(try snapshots(fixture) == ["vault.db.before-migration-3"])
        fixture.advance(by: .seconds(1))
        try fixture.open().close()
        #expect(try snapshots(fixture).isEmpty)
    }

    @Test func aSnapshotThatOthersCouldReadIsRefused() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let older = "\(try VaultFile(fixture.path).path).before-migration-3"
        try Data("old".utf8).write(to: URL(filePath: older))
        unsafe #expect(chmod(older, 0o644) == 0)
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .unsafeFile)
        #expect(error?.hint?.contains(older) == true)
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "only root can mount a small file system"))
    func withoutRoomForASnapshotNothingIsChanged() async throws {
        let disk = try SmallFileSystem(byteCount: 2 << 20)
        do {
            let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
            try await fixture.populateBriefly()
            disk.fill()
            let error = #expect(throws: StoreError.self) { try migrator(fixture).migrate() }
            #expect(error?.code == .full)
            disk.empty()
            #expect(try snapshots(fixture).isEmpty)
            try fixture.open().close()
            #expect(try migrator(fixture).migrate() != nil)
        }
    }

    // MARK: Two spellings of one version

    @Test(arguments: [-1, 0, 4, Migrations.all.count - 1])
    func aHeaderThatWasSetByHandIsDamageWithAWayOut(_ version: Int) async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        try fixture.edit("PRAGMA user_version = \(version)")
        let newest = Migrations.all.count
        for attempt in [
            { _ = try fixture.open() }, { _ = try SQLiteVaultStore.migrations(at: fixture.path) },
            { _ = try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock) },
            {
                _ = try SQLiteVaultStore.open(
                    at: fixture.path, unlocker: fixture.unlocker, migrate: true, clock: fixture.clock)
            },
        ] {
            let error = #expect(throws: StoreError.self) { try attempt() }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("version \(version) by the file's header and \(newest)") == true)
            #expect(error?.hint?.contains("'PRAGMA user_version = \(newest)'") == true)
        }
        #expect(try snapshots(fixture).isEmpty)
        try fixture.edit("PRAGMA user_version = \(newest)")
        await #expect(try fixture.open().verify { _ in }.findings == [])
    }

    @Test(arguments: [
        "DELETE FROM migration", "DELETE FROM migration WHERE version = 3",
        "UPDATE migration SET version = 9223372036854775807 WHERE version = 2",
        "UPDATE migration SET version = 99 WHERE version = \(Migrations.all.count)",
    ]) func aRecordThatWasChangedIsDamage(_ edit: String) async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        try fixture.edit(edit)
        for attempt in [{ _ = try fixture.open() }, { _ = try SQLiteVaultStore.migrations(at: fixture.path) }] {
            let error = #expect(throws: StoreError.self) { try attempt() }
            #expect(error?.code == .damaged)
            #expect(error?.hint?.contains("restore a backup") == true)
        }
    }

    @Test func severalAtOnceApplyAStepOnce() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let (path, clock) = (fixture.path, fixture.clock)
        let steps = Migrations.all + [next]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { try Migrator(try VaultFile(path), migrations: steps, clock: clock).migrate() }
            }
            try await group.waitForAll()
        }
        #expect(try fixture.integer("SELECT count(*) FROM migration") == Int64(steps.count))
    }

    @Test(arguments: 1..<Migrations.all.count)
    func everyOlderSchemaBecomesTheNewestOne(_ version: Int) throws {
        let fixture = try VaultFixture()
        try Data().write(to: URL(filePath: fixture.path))
        unsafe #expect(chmod(fixture.path, 0o600) == 0)
        do {
            let connection = try Connection(path: fixture.path)
            try connection.execute("PRAGMA application_id = \(Connection.applicationID)")
            try connection.configure()
            for migration in Migrations.all.prefix(version) { try migrator(fixture).apply(migration, on: connection) }
            try connection.execute(
                """
                INSERT INTO vault (id, vaultID, incarnation, createdAt, keyringCell)
                VALUES (1, randomblob(16), 1, 1, randomblob(608))
                """)
        }
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .migrationNeeded(found: version, known: Migrations.all.count))
        let snapshot = try #require(try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock))
        #expect(try VaultSchema(of: Connection(path: fixture.path)) == VaultSchema(after: Migrations.all))
        let kept = try Connection(path: snapshot)
        #expect(try kept.integer("PRAGMA user_version") == Int64(version))
        #expect(try VaultSchema(of: kept) == VaultSchema(after: Array(Migrations.all.prefix(version))))
        #expect(try SQLiteVaultStore.migrations(at: fixture.path).allSatisfy { $0.appliedAt == fixture.now })
    }

    /// Nobody has a key while a vault is migrated.
    @Test func theFirstWhoOpensAMigratedVaultTellsTheAuditTrail() async throws {
        let fixture = try VaultFixture()
        let kept = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Vaults/v005/"
        try FileManager.default.removeItem(atPath: fixture.keyFile)
        for (source, target) in [("vault.db", fixture.path), ("vault.key", fixture.keyFile)] {
            try FileManager.default.copyItem(atPath: kept + source, toPath: target)
            unsafe #expect(chmod(target, 0o600) == 0)
        }
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .migrationNeeded(found: 5, known: Migrations.all.count))
        _ = try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock)
        let steps = Migrations.all.dropFirst(5).map { AuditEvent.Detail("step", $0.name) }
        for _ in 0..<2 {
            let store = try fixture.open()
            let told = try await store.auditEntries(after: 0, limit: 100).filter { $0.kind == .vaultMigrated }
            #expect(told.map(\.detail) == [steps])
            let row = store.context.rows.current
            #expect(row.revision == 1 && row.auditSequence == told.first?.sequence)
            #expect(
                row.manifest.providers.count == (try await store.providers().count) && row.manifest.providers.count > 0)
            #expect(
                row.manifest.keySlots.count == (try await store.keySlots().count) && row.manifest.keySlots.count > 1)
            #expect(try await store.verify().findings == [])
            store.close()
        }
        try fixture.edit("UPDATE migration SET auditSequence = 2 WHERE version = 4")
        await #expect(try fixture.open().verify { _ in }.findings.map(\.place) == ["migration"])
    }

    @Test func aHistoryThatIsNotOursIsRefused() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        try fixture.edit("UPDATE migration SET checksum = checksum + 1 WHERE version = 1")
        let migrator = Migrator(try VaultFile(fixture.path), migrations: Migrations.all + [next], clock: fixture.clock)
        let error = #expect(throws: StoreError.self) { try migrator.migrate() }
        #expect(error?.code == .damaged)
    }
}
