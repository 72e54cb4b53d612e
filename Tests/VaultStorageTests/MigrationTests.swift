import Foundation
import Testing
import VaultMigrations

@testable import VaultStorage

struct MigrationTests {
    private let next = Migration(
        version: Migrations.all.count + 1, name: "v999_add_note", sql: "ALTER TABLE provider ADD COLUMN note TEXT;")

    private func snapshots(_ fixture: VaultFixture) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: fixture.directory).filter {
            $0.contains("before-migration")
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

    @Test func anOlderVaultIsRefusedUntilItIsMigratedAndKeptAsItWas() async throws {
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
        #expect(try old.session(.user("alice")).session.state == .established)
        #expect(try old.verify { _ in }.findings == [])
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

    /// Nobody has a key while a vault is migrated.
    @Test func theFirstWhoOpensAMigratedVaultTellsTheAuditTrail() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        #expect(
            try fixture.integer("SELECT count(*) FROM migration WHERE auditSequence = 1") == Int64(Migrations.all.count)
        )
        try fixture.edit(
            """
            DROP INDEX loginByProvider; DROP TABLE unusableReply; ALTER TABLE migration DROP COLUMN auditSequence;
            DELETE FROM migration WHERE version >= 4; PRAGMA user_version = 3;
            """)
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .migrationNeeded(found: 3, known: Migrations.all.count))
        _ = try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock)
        for _ in 0..<2 {
            let store = try fixture.open()
            let told = try store.auditEntries(after: 0, limit: 100).filter { $0.kind == .vaultMigrated }
            #expect(told.count == 1)
            // The column came with the fourth step: older steps are told again with it.
            #expect(told.first?.detail.last == AuditEvent.Detail("step", "v006_add_indexes_and_manifest"))
            #expect(try store.verify { _ in }.findings == [])
            store.close()
        }
        try fixture.edit("UPDATE migration SET auditSequence = 2 WHERE version = 4")
        #expect(try fixture.open().verify { _ in }.findings.map(\.place) == ["migration"])
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
