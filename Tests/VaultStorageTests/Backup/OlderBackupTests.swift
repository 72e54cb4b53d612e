import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A backup that an older version has made is brought up to date when it is restored, and not before.
@Suite struct OlderBackupTests {
    private let vault: BackedUpVault
    private let older: String

    init() async throws {
        vault = try await BackedUpVault()
        older = vault.sample.directory.file("older.tvbackup")
        let new = try BackupFile(at: vault.backup).manifest
        let database = vault.sample.directory.file("older")
        try FileBytes.write(Array(try FileBytes.read(vault.backup).prefix(Int(new.byteCount))), to: database)
        do {
            let raw = try RawDatabase(database)
            try raw.execute(OlderSchemas.six)
        }
        let bytes = try FileBytes.read(database)
        let store = try vault.sample.open()
        defer { store.close() }
        let manifest = BackupManifest(
            vault: new.vault, backup: new.backup, madeAt: new.madeAt, schemaVersion: 6, incarnation: new.incarnation,
            auditSequence: new.auditSequence, auditLink: new.auditLink, vaultSequence: new.vaultSequence,
            byteCount: Int64(bytes.count), digest: unsafe bytes.withUnsafeBytes { unsafe Checksum.digest(of: $0) },
            counts: new.counts.filter { !["backup", "observer"].contains($0.key) }, slots: new.slots,
            recipients: new.recipients, toolVersion: "older")
        try FileBytes.write(
            bytes + BackupContainer(manifest, manifest.mac(store.context)).encoded(), to: older)
    }

    @Test func itIsRestoredAndBroughtUpToDate() async throws {
        #expect(try vault.verify(older, withKey: false) == nil)
        let before = try FileBytes.read(older)
        let outcome = try vault.restore(from: older)
        #expect(outcome.incarnation == 2 && outcome.accepted == 0)
        #expect(try FileBytes.read(older) == before, "the backup stays as it is")
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.verify().findings == [])
        let listings = try await store.logins(ofUser: nil, after: nil, limit: 100)
        #expect(listings.count == 10 && listings.allSatisfy { $0.login?.isHeld == true })
        let steps = try SQLiteVaultStore.migrations(at: vault.sample.directory.file("restored.vault"))
        #expect(steps.last?.version == SQLiteVaultStore.schemaVersion && steps.allSatisfy { $0.appliedAt != nil })
        let kinds = try await store.auditEntries(after: 0, limit: 1_000).map(\.kind)
        #expect(kinds.contains(.vaultMigrated) && kinds.contains(.vaultRestored))
    }

    /// What an older version made is not read as if today's had made it.
    @Test func itIsVerifiedWithAKeyOnceItIsRestored() async throws {
        let error = #expect(throws: StoreError.self) { try vault.verify(older) }
        #expect(error?.code == .migrationNeeded(found: 6, known: SQLiteVaultStore.schemaVersion))
    }

    @Test func aForgedOneIsRefusedBeforeAnythingIsThere() async throws {
        let container = try BackupFile(at: older).container
        var bytes = try FileBytes.read(older)
        let mac = container.mac.array
        let place = try #require(bytes.indices.dropLast(mac.count).last { Array(bytes[$0..<$0 + mac.count]) == mac })
        bytes[place] ^= 1
        // The checksum is over the code, too, and can be made anew by anyone.
        let forged = try #require(
            unsafe Array(bytes[place..<place + mac.count]).withUnsafeBytes { unsafe AuditMAC($0) })
        let database = Array(bytes.prefix(Int(container.manifest.byteCount)))
        try FileBytes.write(database + BackupContainer(container.manifest, forged).encoded(), to: older)
        #expect(throws: StoreError.self) { try vault.restore(from: older) }
        #expect(!FileManager.default.fileExists(atPath: vault.sample.directory.file("restored.vault")))
    }
}
