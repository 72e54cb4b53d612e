import Foundation
import Glibc
import TestSupport
import Testing
import VaultCrypto
import VaultMigrations

@testable import VaultSQLite
@testable import VaultStorage

/// A vault is made as one whole file, and what former versions left half made is told as such.
struct CreationTests {
    private func names(_ fixture: VaultFixture) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).sorted()
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test func aNewVaultIsOneFileThatCanBeCopied() async throws {
        let fixture = try VaultFixture()
        let file = try VaultFile(fixture.path)
        let draft = try VaultDraft(firstSlot: fixture.unlocker, label: "test", now: fixture.now)
        try draft.write(to: file, clock: fixture.clock)
        #expect(try names(fixture) == ["vault.db", "vault.key"])
        let copy = fixture.directory.file("copy.db")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: copy)
        let store = try SQLiteVaultStore.open(at: copy, unlocker: fixture.unlocker, clock: fixture.clock)
        defer { store.close() }
        #expect(try await store.verify().findings == [])
        #expect(try await store.auditEntries(after: 0, limit: 10).map(\.kind) == [.vaultCreated])
        #expect(try Connection(path: copy).text("PRAGMA journal_mode") == "wal")
        #expect(try Connection(path: copy).text("PRAGMA integrity_check") == "ok")
    }

    /// SQLite would apply it to the new vault.
    @Test(arguments: ["-wal", "-journal"]) func theLogOfAnotherVaultStopsACreation(_ suffix: String) throws {
        let fixture = try VaultFixture()
        try Data("frames".utf8).write(to: URL(filePath: fixture.path + suffix))
        let error = #expect(throws: StoreError.self) { try fixture.create() }
        #expect(error?.code == .vaultExists)
        #expect(try error?.message.contains("\(VaultFile(fixture.path).path)\(suffix)") == true)
        // It may be the log of this vault, whose file is elsewhere.
        #expect(error?.hint?.contains("&& mv '") == true && error?.hint?.contains("rm ") == false)
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
        try Data().write(to: URL(filePath: fixture.path + suffix))
        #expect(unsafe chmod(fixture.path + suffix, 0o600) == 0)
        try fixture.create().close()
    }

    /// Former versions made the vault step by step under its own name: killed after each of them.
    @Test(arguments: 0...5) func aVaultThatWasNeverFinishedIsToldAsSuch(_ steps: Int) throws {
        let fixture = try VaultFixture()
        try Data().write(to: URL(filePath: fixture.path))
        #expect(unsafe chmod(fixture.path, 0o600) == 0)
        try leave(steps, at: fixture)
        for attempt in [
            { _ = try fixture.open() }, { _ = try fixture.create() },
            { _ = try SQLiteVaultStore.migrations(at: fixture.path) },
            { _ = try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock) },
        ] {
            let error = #expect(throws: StoreError.self) { try attempt() }
            #expect(error?.code == .vaultUnfinished, "\(steps) steps: \(String(describing: error))")
            #expect(try error?.hint?.contains("&& mv '\(VaultFile(fixture.path).path)'") == true)
            #expect(error?.hint?.contains("rm ") == false)
        }
        #expect(try names(fixture).allSatisfy { !$0.contains("before-migration") })
        for suffix in ["", "-wal", "-shm", "-journal", ".lock"] { _ = unsafe unlink(fixture.path + suffix) }
        try fixture.create().close()
    }

    private func leave(_ steps: Int, at fixture: VaultFixture) throws {
        let connection = try Connection(path: fixture.path)
        try connection.execute("PRAGMA application_id = \(Connection.applicationID)")
        try connection.configure()
        let migrator = Migrator(try VaultFile(fixture.path), clock: fixture.clock)
        for migration in Migrations.all.prefix(steps) { try migrator.apply(migration, on: connection) }
    }

    @Test func anEmptyFileIsNoVaultAndToldWhatToDo() throws {
        let fixture = try VaultFixture()
        try Data().write(to: URL(filePath: fixture.path))
        #expect(unsafe chmod(fixture.path, 0o600) == 0)
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .notAVault)
        #expect(error?.message.contains("the file is empty") == true)
        #expect(code { _ = try fixture.create() } == .vaultExists)
        #expect(try Data(contentsOf: URL(filePath: fixture.path)).isEmpty)
    }

    /// What has a key, users or a trail was finished, whatever is missing of it now.
    @Test func aDamagedVaultIsNotTakenForAnUnfinishedOne() async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        try fixture.edit("DELETE FROM vault")
        #expect(code { _ = try fixture.open() } == .damaged)
        try fixture.edit("DELETE FROM keySlot; DELETE FROM login; DELETE FROM loginSecret; DELETE FROM user")
        #expect(code { _ = try fixture.open() } == .damaged)
        #expect(code { _ = try fixture.create() } == .vaultExists)
    }

    @Test func linksForeignFilesAndDirectoriesAreKept() throws {
        let fixture = try VaultFixture()
        let other = fixture.directory.file("other")
        try Data("other".utf8).write(to: URL(filePath: other))
        #expect(unsafe symlink(other, fixture.path) == 0)
        #expect(code { _ = try fixture.create() } == .vaultExists)
        #expect(unsafe unlink(fixture.path) == 0)
        #expect(unsafe mkdir(fixture.path, 0o700) == 0)
        #expect(code { _ = try fixture.create() } == .vaultExists)
        #expect(try Data(contentsOf: URL(filePath: other)) == Data("other".utf8))
    }
}
