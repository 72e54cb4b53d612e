import Foundation
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Each refusal has its own code, and a hint that says what to do.
struct RefusalTests {
    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch let error as StoreError {
            #expect(!error.message.isEmpty && !error.message.hasSuffix("."))
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

    @Test func aFailedCreationLeavesNothing() throws {
        let fixture = try VaultFixture()
        let missing = KeyFileUnlocker(path: fixture.directory.file("none.key"))
        let found = code {
            _ = try SQLiteVaultStore.create(at: fixture.path, firstSlot: missing, label: "", clock: fixture.clock)
        }
        #expect(found == .keyUnavailable(.keyFileMissing))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path) == ["vault.key"])
    }

    @Test func aDamagedKeySlotIsNotAWrongKey() async throws {
        let fixture = try await closedVault()
        try fixture.edit("UPDATE keySlot SET cell = zeroblob(length(cell))")
        #expect(code { _ = try fixture.open() } == .damaged)
    }

    @Test func aDamagedKeyringIsNotAWrongKey() async throws {
        let fixture = try await closedVault()
        try fixture.edit("UPDATE vault SET incarnation = incarnation + 1")
        #expect(code { _ = try fixture.open() } == .damaged)
    }

    @Test(arguments: ["-wal", "-shm", "-journal", ".lock"])
    func aDirectoryInPlaceOfACompanionIsToBeMovedAway(suffix: String) async throws {
        let fixture = try await closedVault()
        try? FileManager.default.removeItem(atPath: fixture.path + suffix)
        try FileManager.default.createDirectory(atPath: fixture.path + suffix, withIntermediateDirectories: false)
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .unsafeFile)
        #expect(error?.hint?.hasSuffix("move it away: \(fixture.path)\(suffix)") == true, "\(error?.hint ?? "")")
    }

    @Test func aDirectoryAndADeviceAreRefused() throws {
        let fixture = try VaultFixture()
        for path in [fixture.directory.path, "/dev/null", "", fixture.directory.file("no/vault.db"), "/tmp/.."] {
            let found = code {
                _ = try SQLiteVaultStore.open(at: path, unlocker: fixture.unlocker, clock: fixture.clock)
            }
            #expect(found == .unsafeFile || found == .vaultMissing, "\(path)")
        }
    }
}
