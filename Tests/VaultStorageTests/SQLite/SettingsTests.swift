import CSQLite
import Foundation
import Testing
import VaultMigrations

@testable import VaultSQLite
@testable import VaultStorage

struct SettingsTests {
    @Test(arguments: [false, true])
    func everyConnectionHasTheSettingsThatDurabilityNeeds(isReader: Bool) throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let connection = try Connection(path: fixture.path)
        try connection.configure(isReader: isReader)
        let expected: [(String, Int64)] = [
            ("synchronous", 2), ("foreign_keys", 1), ("secure_delete", 1), ("temp_store", 2), ("mmap_size", 0),
            ("trusted_schema", 0), ("cell_size_check", 1), ("wal_autocheckpoint", 0), ("busy_timeout", 10_000),
            ("journal_size_limit", 4 << 20), ("query_only", isReader ? 1 : 0), ("page_size", 4096),
            ("application_id", Connection.applicationID), ("user_version", Int64(SQLiteVaultStore.schemaVersion)),
        ]
        for (name, value) in expected { #expect(try connection.integer("PRAGMA \(name)") == value, "\(name)") }
        #expect(try connection.text("PRAGMA journal_mode") == "wal")
        for (option, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
            (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        ] as [(Int32, Int32)] {
            var found: Int32 = -1
            _ = unsafe vault_db_config_flag(connection.handle, option, -1, &found)
            #expect(found == value)
        }
        #expect(unsafe sqlite3_limit(connection.handle, SQLITE_LIMIT_ATTACHED, -1) == 0)
        #expect(throws: StoreError.self) { try connection.execute("ATTACH ':memory:' AS other") }
        if isReader { #expect(throws: StoreError.self) { try connection.execute("DELETE FROM audit") } }
        store.close()
    }

    @Test func theCacheOfABigBatchIsGivenBack() throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let connection = try Connection(path: fixture.path)
        try connection.configure()
        let usual = try connection.integer("PRAGMA cache_size")
        func keptOfLog() throws -> Int64 { try connection.integer("PRAGMA journal_size_limit") }
        #expect(try keptOfLog() == 4 << 20)
        try connection.reduceCacheIfIdle()
        #expect(try connection.integer("PRAGMA cache_size") == usual)
        try connection.expectManyChanges()
        #expect(try connection.integer("PRAGMA cache_size") == -20_480)
        #expect(try keptOfLog() == 48 << 20)
        #expect(!connection.spillsNothing)
        try connection.reduceCacheIfIdle()
        #expect(connection.spillsNothing)
        // It stays while such batches go on.
        for _ in 0..<40 {
            try connection.reduceCacheIfIdle()
            try connection.expectManyChanges()
        }
        #expect(try connection.integer("PRAGMA cache_size") == -20_480)
        for _ in 0..<16 { try connection.reduceCacheIfIdle() }
        #expect(try connection.integer("PRAGMA cache_size") == usual)
        #expect(try keptOfLog() == 4 << 20)
        #expect(!connection.spillsNothing)
    }

    /// A clean end is told to it; whatever else closes a connection may be an error.
    @Test(arguments: [false, true]) func onlyACleanEndLetsTheLastConnectionCheckpoint(isClean: Bool) throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let connection = try Connection(path: fixture.path)
        try connection.configure()
        try connection.execute("CREATE TABLE big (a); INSERT INTO big VALUES (zeroblob(100000))")
        connection.close(checkpointing: isClean)
        #expect(isClean ? fixture.walSize == 0 : fixture.walSize > 100_000)
    }

    @Test func shippedMigrationsAreFrozen() {
        let checksums = Dictionary(uniqueKeysWithValues: Migrations.all.map { ($0.name, $0.checksum) })
        #expect(
            checksums == [
                "v001_create_vault": -639_682_305_147_429_718, "v002_create_login": 3_544_142_001_922_805_921,
                "v003_create_journals": -5_123_279_583_002_351_694,
                "v004_audit_migrations": 7_415_240_075_433_611_923,
                "v005_keep_unusable_replies": -812_978_893_280_581_927,
                "v006_add_indexes_and_manifest": 7_645_946_079_238_298_548,
                "v007_keep_for_years": -9_150_678_815_049_714_039,
                "v008_cut_manifests_into_parts": -1_348_520_556_017_556_037,
                "v009_remember_observers": 260_804_265_949_855_175,
                "v010_find_logins_by_user_and_provider": 2_743_214_486_722_260_839,
            ])
        #expect(Migrations.all.map(\.version) == Array(1...Migrations.all.count))
    }

    @Test func filesOfAVaultAreTheOwnersAlone() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
    }
}
