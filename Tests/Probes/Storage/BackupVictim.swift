import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

/// `storage-probe backup VAULT KEY TARGET STEP` and `storage-probe restore TARGET KEY BACKUP STEP`: dies right after a
/// step.
struct BackupVictim {
    private let vault: String
    private let unlocker: KeyFileUnlocker
    private let other: String
    private let step: String

    init(_ vault: String, key: String, other: String, step: String) {
        self.vault = vault
        unlocker = KeyFileUnlocker(path: key)
        self.other = other
        self.step = step
    }

    private func dieIfReached(_ step: BackupStep) {
        if step.rawValue == self.step { kill(getpid(), SIGKILL) }
    }

    private let clock: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }

    func die(at task: String) async throws {
        if task == "restore" {
            let restoration = try Restoration(
                of: BackupFile(at: other), to: vault, trustsFileSystem: true, .none, clock: clock
            ) { dieIfReached($0) }
            _ = try restoration.run(by: unlocker, policy: .init()) { _, _ in }
        } else {
            let store = try SQLiteVaultStore.open(at: vault, unlocker: unlocker, clock: clock)
            var plan = BackupPlan(target: other, allowsSameDevice: true, toolVersion: "probe")
            plan.onStep = { dieIfReached($0) }
            _ = try await store.backUp(plan) { _, _ in }
            store.close()
        }
        exit(0)
    }
}
