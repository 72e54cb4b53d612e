import VaultCrypto
import VaultSQLite
import VaultStorage

extension Vault {
    /// Makes a backup while everything goes on, and checks it before it counts as one.
    ///
    /// It holds the vault as it is at one moment, keys included: any of the vault's keys opens it. Make it
    /// on another device, keep the keys elsewhere, and destroy it in time: users who are erased later are still in it.
    ///
    /// A backup for recipients has keys of its own: none of the vault's keys opens it, and it opens nothing but itself. When
    /// their identities are destroyed, no one can read it, wherever copies of it are.
    ///
    /// - Parameters:
    ///   - target: A directory, in which the backup gets a name of its own, or a file that does not exist.
    ///   - recipients: Recipients of age, `age1…`, who alone can open it; empty: the vault's keys do.
    ///   - allowsSameDevice: Whether it may lie on the vault's own device, because it is copied away from there.
    ///   - progress: Called now and then with how much has been written, of how much.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/storageFull``. Then there is no backup, and nothing is left.
    @discardableResult
    public func backUp(
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
    public func backups() async throws -> [BackupEntry] {
        try await VaultError.translating {
            try await store.backups().map { listing in
                listing.record.map { .backup(Backup($0)) }
                    ?? .damaged(id: listing.handle.map { BackupID($0) }, listing.damage?.reason ?? "unreadable")
            }
        }
    }

    /// The backups that hold this user, as far as the vault remembers them. Such a backup is readable for anyone who has it
    /// and a key that opened the vault when it was made, also after the user is erased here.
    public func backups(holding userId: String) async throws -> [Backup] {
        let all = try await backups().compactMap(\.backup)
        do {
            let user = try await user(userId)
            return all.filter { $0.madeAt >= user.createdAt }
        } catch let error as VaultError where error.code == .quarantined {
            // Since when there is such a user cannot be read.
            return all
        }
    }

    /// Drops a backup from the list, when its file is gone for good. Nothing is done to a file.
    public func forgetBackup(_ id: BackupID) async throws {
        try await VaultError.translating { try await store.forgetBackup(id.handle) }
    }

    /// What a backup's file says of itself. Needs no key, and believes no more than that the file says so.
    public static func backup(at path: String) throws -> BackupFacts {
        try VaultError.translating {
            let file = try BackupFile(at: path)
            return BackupFacts(file.manifest, path: file.path)
        }
    }

    /// Checks a backup: that no byte of it has changed, and that SQLite can read each of its pages. With a key also that
    /// the vault made it, every cell, and the audit chain. Changes nothing.
    ///
    /// - Parameters:
    ///   - path: The backup.
    ///   - source: A key that opened the vault when the backup was made; nil: what can be checked without one.
    ///   - options: How the key may be tried.
    ///   - progress: Called now and then with how many rows have been checked, of how many; first with 0 of 0, while the
    ///     bytes are.
    /// - Returns: What was found with the key; nil without one.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/damaged``.
    public static func verifyBackup(
        at path: String, unlockedBy source: KeySource? = nil, options: VaultOptions = .init(),
        progress: @escaping @Sendable (_ checked: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> VerificationReport? {
        let (clock, policy) = (options.clock, options.unlockingPolicy)
        let source = try await source?.resolved()
        let report = try await VaultError.translating {
            try await BlockingLane.care.run {
                // Reading all bytes takes its time.
                progress(0, 0)
                let file = try BackupFile(at: path)
                try file.checkBytes()
                try file.checkDatabase()
                guard let source else { return nil as VaultStorage.VerificationReport? }
                return try file.verify(by: try source.unlocker(), policy: policy, clock: clock) {
                    progress($0.checked, $0.total)
                }
            }
        }
        return report.map { VerificationReport($0) }
    }
}
