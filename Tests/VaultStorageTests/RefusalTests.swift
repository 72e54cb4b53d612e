import Foundation
import Testing
import VaultCrypto

@testable import VaultStorage

/// Each refusal has its own code, and a hint that says what to do.
struct RefusalTests {
    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch let error as StoreError {
            #expect(!error.reason.isEmpty && !error.reason.hasSuffix("."))
            #expect(error.hint != nil)
            return error.code
        } catch {
            return nil
        }
    }

    private func closedVault() async throws -> VaultFixture {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        _ = try await store.insertLogin(fixture.draft("alice"))
        store.close()
        return fixture
    }

    @Test func anExistingFileIsNeverOverwritten() async throws {
        let fixture = try await closedVault()
        #expect(code { _ = try fixture.create() } == .vaultExists)
        _ = try fixture.open()
    }

    @Test func aMissingVaultIsNotMadeByOpening() throws {
        let fixture = try VaultFixture()
        #expect(code { _ = try fixture.open() } == .vaultMissing)
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
    }

    @Test func aFailedCreationLeavesNothing() throws {
        let fixture = try VaultFixture()
        let missing = KeyFileUnlocker(path: fixture.directory + "/none.key")
        let found = code {
            _ = try SQLiteVaultStore.create(at: fixture.path, firstSlot: missing, label: "", clock: fixture.clock)
        }
        #expect(found == .keyUnavailable(.keyFileMissing))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory) == ["vault.key"])
    }

    @Test func wrongMissingAndTruncatedKeysAreToldApart() async throws {
        let fixture = try await closedVault()
        let other = try VaultFixture()
        func open(_ path: String) -> StoreError.Code? {
            code {
                _ = try SQLiteVaultStore.open(
                    at: fixture.path, unlocker: KeyFileUnlocker(path: path), clock: fixture.clock)
            }
        }
        #expect(open(other.keyPath) == .wrongKey)
        #expect(open(other.directory + "/none") == .keyUnavailable(.keyFileMissing))
        let line = try String(contentsOfFile: fixture.keyPath, encoding: .utf8)
        let cut = other.directory + "/cut.key"
        #expect(
            FileManager.default.createFile(
                atPath: cut, contents: Data(line.dropLast(9).utf8), attributes: [.posixPermissions: 0o600]))
        #expect(open(cut) == .keyUnavailable(.keyFileTruncated))
        try fixture.edit("UPDATE keySlot SET cell = zeroblob(length(cell))")
        #expect(open(fixture.keyPath) == .damaged)
    }

    @Test func aDamagedKeyringIsNotAWrongKey() async throws {
        let fixture = try await closedVault()
        try fixture.edit("UPDATE vault SET incarnation = incarnation + 1")
        #expect(code { _ = try fixture.open() } == .damaged)
    }

    @Test func aFileThatIsNoVaultIsRefused() throws {
        let fixture = try VaultFixture()
        try #require(
            FileManager.default.createFile(
                atPath: fixture.path, contents: Data(repeating: 65, count: 5000), attributes: [.posixPermissions: 0o600]
            ))
        #expect(code { _ = try fixture.open() } == .notAVault)
        try Data().write(to: URL(fileURLWithPath: fixture.path))
        #expect(code { _ = try fixture.open() } == .notAVault)
    }

    @Test func aNewerSchemaIsRefused() async throws {
        let fixture = try await closedVault()
        try fixture.edit("PRAGMA user_version = 99")
        let known = SQLiteVaultStore.schemaVersion
        #expect(code { _ = try fixture.open() } == .newerSchema(found: 99, known: known))
        let migrating = code {
            _ = try SQLiteVaultStore.open(
                at: fixture.path, unlocker: fixture.unlocker, migrate: true, clock: fixture.clock)
        }
        #expect(migrating == .newerSchema(found: 99, known: known))
    }

    @Test(arguments: [
        ("spy", "CREATE TRIGGER spy AFTER UPDATE ON login BEGIN DELETE FROM audit; END"),
        ("view", "CREATE VIEW view AS SELECT * FROM login"),
        ("extra", "CREATE TABLE extra (a)"),
        ("extra", "CREATE INDEX extra ON login (chain)"),
        ("login", "ALTER TABLE login ADD COLUMN extra INTEGER"),
    ])
    func aForeignObjectInTheSchemaIsRefused(name: String, sql: String) async throws {
        let fixture = try await closedVault()
        try fixture.edit(sql)
        #expect(code { _ = try fixture.open() } == .foreignSchemaObject(name))
    }

    @Test func aMissingIndexIsRefused() async throws {
        let fixture = try await closedVault()
        try fixture.edit("DROP INDEX loginByDueAt")
        #expect(code { _ = try fixture.open() } == .damaged)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o666])
    func aFileThatOthersMayTouchIsRefused(mode: Int) async throws {
        let fixture = try await closedVault()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.path)
        #expect(code { _ = try fixture.open() } == .unsafeFile)
    }

    @Test func linksAreRefused() async throws {
        let fixture = try await closedVault()
        let link = fixture.directory + "/link.db"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.path)
        let linked = code {
            _ = try SQLiteVaultStore.open(at: link, unlocker: fixture.unlocker, clock: fixture.clock)
        }
        #expect(linked == .unsafeFile)
        try FileManager.default.linkItem(atPath: fixture.path, toPath: fixture.directory + "/hard.db")
        #expect(code { _ = try fixture.open() } == .unsafeFile)
    }

    @Test(arguments: [0o777, 0o720, 0o702])
    func aDirectoryInWhichOthersMayExchangeFilesIsRefused(mode: Int) async throws {
        let fixture = try await closedVault()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.directory)
        #expect(code { _ = try fixture.open() } == .unsafeFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: fixture.directory)
        _ = try fixture.open()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func aFileOfAnotherOwnerIsRefused() async throws {
        let fixture = try await closedVault()
        try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: fixture.path)
        #expect(code { _ = try fixture.open() } == .unsafeFile)
    }

    @Test func aDirectoryAndADeviceAreRefused() throws {
        let fixture = try VaultFixture()
        for path in [fixture.directory, "/dev/null", "", fixture.directory + "/no/vault.db", "/tmp/.."] {
            let found = code {
                _ = try SQLiteVaultStore.open(at: path, unlocker: fixture.unlocker, clock: fixture.clock)
            }
            #expect(found == .unsafeFile || found == .vaultMissing, "\(path)")
        }
    }
}
