import Foundation
import Glibc
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Files and places that the store must not use, each with its own name and a sentence that says what to do.
@Suite struct RefusedFileTests {
    private func error(opening vault: VaultFixture) -> StoreError? {
        do throws(StoreError) {
            try vault.open().close()
            return nil
        } catch {
            return error
        }
    }

    /// Opening is refused with this code and a hint, and changes nothing.
    private func expect(
        _ code: StoreError.Code, opening vault: VaultFixture, _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try? FileBytes.read(vault.path)
        let error = error(opening: vault)
        #expect(error?.code == code, "\(name): \(String(describing: error))", sourceLocation: sourceLocation)
        #expect(error?.hint?.isEmpty == false, "\(name) has no hint", sourceLocation: sourceLocation)
        if let before { #expect(try FileBytes.read(vault.path) == before, "\(name)", sourceLocation: sourceLocation) }
    }

    private func sample() async throws -> VaultFixture { try await VaultImage.history().current.layOut() }

    // MARK: Owner, mode, type, links

    @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o666, 0o610, 0o601, 0o777] as [mode_t])
    func aFileThatOthersMayUseIsRefused(mode: mode_t) async throws {
        let vault = try await sample()
        unsafe #expect(chmod(vault.path, mode) == 0)
        try expect(.unsafeFile, opening: vault, "mode \(String(mode, radix: 8))")
    }

    /// Root may read it nevertheless, and SQLite would make its log with mode 644.
    @Test(.enabled(if: geteuid() == 0, "only root can read it"))
    func aFileThatNobodyMayReadIsRefused() async throws {
        let vault = try await sample()
        unsafe #expect(chmod(vault.path, 0) == 0)
        try expect(.unsafeFile, opening: vault, "mode 0")
        #expect(!FileManager.default.fileExists(atPath: vault.path + "-wal"))
    }

    @Test func linksAreRefused() async throws {
        let vault = try await sample()
        let other = vault.directory.file("other.db")
        unsafe #expect(rename(vault.path, other) == 0)
        unsafe #expect(symlink(other, vault.path) == 0)
        try expect(.unsafeFile, opening: vault, "symbolic link")
        unsafe #expect(unlink(vault.path) == 0)
        unsafe #expect(link(other, vault.path) == 0)
        try expect(.unsafeFile, opening: vault, "hard link")
        unsafe #expect(unlink(other) == 0)
        #expect(error(opening: vault) == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func aFileOfSomebodyElseIsRefused() async throws {
        let vault = try await sample()
        unsafe #expect(chown(vault.path, 12_345, 12_345) == 0)
        try expect(.unsafeFile, opening: vault, "foreign owner")
        unsafe #expect(chown(vault.path, 0, 0) == 0)
        unsafe #expect(chown(vault.directory.path, 12_345, 12_345) == 0)
        try expect(.unsafeFile, opening: vault, "foreign directory")
    }

    @Test func aDirectoryThatOthersMayWriteToIsRefused() async throws {
        let vault = try await sample()
        for mode: mode_t in [0o777, 0o770, 0o722] {
            unsafe #expect(chmod(vault.directory.path, mode) == 0)
            try expect(.unsafeFile, opening: vault, "directory of mode \(String(mode, radix: 8))")
        }
        // There others cannot exchange the vault, but make the files that SQLite takes for its own.
        unsafe #expect(chmod(vault.directory.path, 0o1777) == 0)
        try expect(.unsafeFile, opening: vault, "sticky directory")
        #expect(error(opening: vault)?.hint?.contains("mkdir -m 700") == true)
    }

    @Test func whatIsNoFileIsRefused() async throws {
        let vault = try await sample()
        unsafe #expect(unlink(vault.path) == 0)
        unsafe #expect(mkdir(vault.path, 0o700) == 0)
        #expect(error(opening: vault)?.code == .unsafeFile)
        unsafe #expect(rmdir(vault.path) == 0)
        unsafe #expect(mkfifo(vault.path, 0o600) == 0)
        #expect(error(opening: vault)?.code == .unsafeFile)
    }

    @Test func aLockFileThatOthersMayUseIsRefused() async throws {
        let vault = try await sample()
        let lock = vault.path + ".lock"
        try FileBytes.write([], to: lock)
        unsafe #expect(chmod(lock, 0o666) == 0)
        try expect(.unsafeFile, opening: vault, "lock file of mode 666")
        unsafe #expect(unlink(lock) == 0)
        unsafe #expect(symlink(vault.directory.file("elsewhere"), lock) == 0)
        try expect(.unsafeFile, opening: vault, "lock file that is a link")
        #expect(!FileManager.default.fileExists(atPath: vault.directory.file("elsewhere")))
    }

    /// Planted, or left open to others, by whoever may write to the directory.
    @Test(arguments: ["-wal", "-shm", "-journal", ".lock"])
    func filesBesideTheVaultMustBeItsOwn(_ suffix: String) async throws {
        let vault = try await sample()
        let path = vault.path + suffix
        let other = vault.directory.file("other")
        try FileBytes.write([], to: path)
        #expect(error(opening: vault) == nil, "an empty one of its own")
        unsafe #expect(chmod(path, 0o644) == 0)
        try expect(.unsafeFile, opening: vault, "\(suffix) of mode 644")
        unsafe #expect(unlink(path) == 0)
        try FileBytes.write([], to: other)
        unsafe #expect(link(other, path) == 0)
        try expect(.unsafeFile, opening: vault, "\(suffix) with two names")
        unsafe #expect(unlink(path) == 0)
        unsafe #expect(symlink(other, path) == 0)
        try expect(.unsafeFile, opening: vault, "\(suffix) that is a link")
        unsafe #expect(unlink(path) == 0)
        unsafe #expect(mkdir(path, 0o700) == 0)
        try expect(.unsafeFile, opening: vault, "\(suffix) that is a directory")
        unsafe #expect(rmdir(path) == 0)
        if geteuid() == 0 {
            try FileBytes.write([], to: path)
            unsafe #expect(chown(path, 12_345, 12_345) == 0)
            try expect(.unsafeFile, opening: vault, "\(suffix) of somebody else")
            unsafe #expect(unlink(path) == 0)
        }
        #expect(error(opening: vault) == nil)
    }

    @Test func aSpoolThatOthersMayUseIsRefused() async throws {
        let vault = try await sample()
        let spool = vault.path + ".spool"
        try FileBytes.write([], to: spool)
        try expect(.unsafeFile, opening: vault, "a spool that is a file")
        unsafe #expect(unlink(spool) == 0)
        unsafe #expect(mkdir(spool, 0o700) == 0)
        unsafe #expect(chmod(spool, 0o755) == 0)
        try expect(.unsafeFile, opening: vault, "a spool of mode 755")
    }

    // MARK: Content

    @Test func absentVaultsAreNamedAsSuch() async throws {
        let vault = try await sample()
        unsafe #expect(unlink(vault.path) == 0)
        try expect(.vaultMissing, opening: vault, "no file")
        let nowhere = SQLiteVaultStore.Place(vault.directory.file("no/vault.db"))
        #expect(nowhere.error?.code == .vaultMissing)
        #expect(!FileManager.default.fileExists(atPath: vault.path), "opening makes nothing")
    }

    @Test func otherFilesAreNotTakenForAVault() async throws {
        let vault = try await sample()
        var generator = SeededGenerator(seed: 7)
        let contents: [(String, [UInt8])] = [
            ("empty", []), ("one byte", [0x53]), ("text", Array("not a vault\n".utf8)),
            ("garbage", (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) }),
            ("zeroes", [UInt8](repeating: 0, count: 16_384)),
        ]
        for (name, bytes) in contents {
            unsafe #expect(unlink(vault.path) == 0)
            try FileBytes.write(bytes, to: vault.path)
            try expect(.notAVault, opening: vault, name)
        }
        unsafe #expect(unlink(vault.path) == 0)
        try FileBytes.write([], to: vault.path)
        try RawDatabase(vault.path).execute(
            "PRAGMA application_id = 252006673; CREATE TABLE user (id INTEGER PRIMARY KEY); INSERT INTO user VALUES (1)"
        )
        try expect(.notAVault, opening: vault, "another program's database")
    }

    @Test func aNewerSchemaIsRefused() async throws {
        let vault = try await sample()
        let known = SQLiteVaultStore.schemaVersion
        try RawDatabase(vault.path).execute("PRAGMA user_version = \(known + 1)")
        try expect(.newerSchema(found: known + 1, known: known), opening: vault, "newer schema")
        try RawDatabase(vault.path).execute("PRAGMA user_version = \(known - 1)")
        try expect(.damaged, opening: vault, "older schema by the header alone")
    }

    @Test(arguments: [
        ("CREATE TRIGGER spy AFTER UPDATE ON login BEGIN DELETE FROM audit; END", "spy"),
        ("CREATE VIEW spy AS SELECT * FROM login", "spy"),
        ("CREATE TABLE spy (id INTEGER PRIMARY KEY)", "spy"),
        ("CREATE INDEX spy ON login (generation)", "spy"),
        ("CREATE VIRTUAL TABLE spy USING fts5(text)", "spy"),
        ("ALTER TABLE login ADD COLUMN spy INTEGER DEFAULT 7", "login"),
        ("DROP INDEX loginByUser; CREATE INDEX loginByUser ON login (user, handle)", "loginByUser"),
        ("DROP TABLE outbox; CREATE VIEW outbox AS SELECT 1 AS id", "outbox"),
    ])
    func aForeignObjectInTheSchemaIsRefused(sql: String, name: String) async throws {
        let vault = try await sample()
        try RawDatabase(vault.path).execute(sql)
        let error = error(opening: vault)
        guard case .foreignSchemaObject(let found)? = error?.code else {
            Issue.record("\(sql): \(String(describing: error))")
            return
        }
        #expect(found.hasPrefix(name))
    }

    @Test func aChangedConstraintIsRefused() async throws {
        let vault = try await sample()
        try RawDatabase(vault.path).execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', 'NOT NULL DEFAULT 1') WHERE name = 'login';
            """)
        try expect(.foreignSchemaObject("login"), opening: vault, "changed default")
        let other = try await sample()
        try RawDatabase(other.path).execute("DROP INDEX loginByDueAt")
        try expect(.damaged, opening: other, "missing index")
    }

    // MARK: Keys

    @Test func wrongMissingAndTruncatedKeysAreThreeErrors() async throws {
        let vault = try await sample()
        let key = try FileBytes.read(vault.keyFile)
        let other = try PrivateDirectory()
        _ = try KeyFile.create(at: other.file("other.key"))

        unsafe #expect(unlink(vault.keyFile) == 0)
        try expect(.keyUnavailable(.keyFileMissing), opening: vault, "missing key")
        try FileBytes.write(try FileBytes.read(other.file("other.key")), to: vault.keyFile)
        try expect(.wrongKey, opening: vault, "wrong key")
        for count in [0, 1, 20, key.count / 2, key.count - 5] {
            unsafe #expect(unlink(vault.keyFile) == 0)
            try FileBytes.write(Array(key.prefix(count)), to: vault.keyFile)
            try expect(.keyUnavailable(.keyFileTruncated), opening: vault, "key of \(count) bytes")
            #expect(try FileBytes.read(vault.keyFile).count == count, "no new key is made")
        }
        unsafe #expect(unlink(vault.keyFile) == 0)
        try FileBytes.write(key, to: vault.keyFile)
        #expect(error(opening: vault) == nil)
    }

    // MARK: Creation

    @Test func creatingOverwritesNothing() async throws {
        let vault = try await sample()
        let before = try FileBytes.read(vault.path)
        #expect(throws: StoreError.self) {
            _ = try SQLiteVaultStore.create(
                at: vault.path, firstSlot: KeyFileUnlocker(path: vault.keyFile), label: "x", clock: { vault.now })
        }
        #expect(try FileBytes.read(vault.path) == before)
        #expect(error(opening: vault) == nil)
    }

    @Test func everyFileOfANewVaultIsItsOwnersAlone() async throws {
        let vault = try VaultFixture()
        let mask = umask(0)
        defer { _ = umask(mask) }
        try vault.create().close()
        let store = try vault.open()
        defer { store.close() }
        _ = try? await store.user("nobody")
        for name in try FileManager.default.contentsOfDirectory(atPath: vault.directory.path) {
            var info = stat()
            unsafe #expect(lstat(vault.directory.file(name), &info) == 0)
            #expect(info.st_mode & 0o077 == 0, "\(name)")
        }
    }
}

extension SQLiteVaultStore {
    /// Opening at a path for which there is no sample.
    fileprivate struct Place {
        let error: StoreError?

        init(_ path: String) {
            do throws(StoreError) {
                try SQLiteVaultStore.open(
                    at: path, unlocker: KeyFileUnlocker(path: "/nonexistent"), migrate: false,
                    clock: { SteppingClock.start }
                ).close()
                error = nil
            } catch {
                self.error = error
            }
        }
    }
}
