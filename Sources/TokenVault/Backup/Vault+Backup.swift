import VaultCrypto
import VaultSQLite
import VaultStorage

extension Vault {
    /// Makes a backup while the vault is in use, and checks it before it counts as one.
    ///
    /// It holds the vault as it is at one moment, keys included: any of the vault's keys opens it. Make it
    /// on another device, and keep the keys elsewhere. Destroy it in time: users who are erased later are still in it.
    ///
    /// A backup for recipients has keys of its own: none of the vault's keys opens it, and it opens nothing but itself. When
    /// their identities are destroyed, no one can read it, wherever copies of it are.
    ///
    /// - Parameters:
    ///   - target: A directory, in which the backup gets a new name, or the path of a file that does not exist.
    ///   - recipients: age recipients, `age1…`; only they can open it. Empty: the vault's keys open it.
    ///   - allowsSameDevice: Whether it may be on the vault's own device, because it is copied away from there.
    ///   - progress: Called at intervals with the amount written so far and the total.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/storageFull``. Then there is no backup, and no partial file.
    @discardableResult
    package func backUp(
        to target: String, for recipients: [String] = [], allowsSameDevice: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> Backup {
        try requireOpen()
        return try await VaultError.translating {
            let plan = try Self.plan(target, recipients, allowsSameDevice)
            return Backup(try await store.backUp(plan, progress))
        }
    }

    /// Whether a backup could be made there, and how much room it takes. Makes nothing.
    package func planBackup(
        to target: String, for recipients: [String], allowsSameDevice: Bool
    ) async throws -> (path: String, byteCount: Int64) {
        try requireOpen()
        return try await VaultError.translating {
            let plan = try Self.plan(target, recipients, allowsSameDevice)
            let size = try await store.statistics().engine.byteCount
            return (try store.pathOfBackup(plan), size)
        }
    }

    private static func plan(
        _ target: String, _ recipients: [String], _ allowsSameDevice: Bool
    ) throws -> BackupPlan {
        var plan = BackupPlan(
            target: target, allowsSameDevice: allowsSameDevice, toolVersion: TokenVaultVersion.current)
        plan.recipients = try recipients.map { try Recipient(text: $0) }
        return plan
    }

    /// The backups that were made of this vault, the oldest first.
    package func backups() async throws -> [BackupEntry] {
        try await VaultError.translating {
            try await store.backups().map { listing in
                listing.record.map { .backup(Backup($0)) }
                    ?? .damaged(id: listing.handle.map { BackupID($0) }, listing.damage?.message ?? "unreadable")
            }
        }
    }

    /// Drops a backup from the list, when its file is gone for good. Nothing is done to a file.
    package func forgetBackup(_ id: BackupID) async throws {
        try await VaultError.translating { try await store.forgetBackup(id.handle) }
    }
}
