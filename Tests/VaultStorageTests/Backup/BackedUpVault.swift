import Foundation
import TestSupport
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// A vault with something in every table, and a backup of it.
final class BackedUpVault: Sendable {
    let sample: VaultFixture
    let backup: String
    let record: BackupRecord

    init(in directory: PrivateDirectory? = nil) async throws {
        sample = try VaultFixture(in: directory ?? PrivateDirectory(in: PrivateDirectory.fastParent))
        try sample.create().close()
        let store = try sample.open()
        defer { store.close() }
        try await sample.fill(store)
        try await sample.change(store)
        backup = sample.directory.file("kept.tvbackup")
        record = try await store.backUp(Self.plan(backup)) { _, _ in }
    }

    static func plan(_ target: String) -> BackupPlan {
        BackupPlan(target: target, allowsSameDevice: true, toolVersion: "test")
    }

    var unlocker: KeyFileUnlocker { KeyFileUnlocker(path: sample.keyFile) }
    var clock: @Sendable () -> Timestamp { { [sample] in sample.now } }

    func verify(_ path: String? = nil, withKey: Bool = true) throws -> VerificationReport? {
        let file = try BackupFile(at: path ?? backup)
        try file.checkBytes()
        try file.checkDatabase()
        guard withKey else { return nil }
        return try file.verify(by: unlocker, policy: .init(), clock: clock) { _ in }
    }

    @discardableResult
    func restore(
        to name: String = "restored.vault", from path: String? = nil, _ evidence: RestoreEvidence = .none
    ) throws -> RestoreOutcome {
        try Restoration(
            of: BackupFile(at: path ?? backup), to: sample.directory.file(name), trustsFileSystem: true, evidence,
            clock: clock
        ).run(by: unlocker, policy: .init()) { _, _ in }
    }

    func open(_ name: String = "restored.vault") throws -> SQLiteVaultStore {
        try SQLiteVaultStore.open(at: sample.directory.file(name), unlocker: unlocker, clock: clock)
    }

    /// What lies in the directory, but for the vault's own companions.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: sample.directory.path).sorted()
    }
}
