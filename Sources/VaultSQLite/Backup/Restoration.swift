package import VaultCrypto
import VaultMigrations
package import VaultStorage

/// Makes a new vault from a backup: completely or not at all.
package struct Restoration {
    package let backup: BackupFile
    private let target: VaultFile
    private let evidence: RestoreEvidence
    private let actor: AuditActor?
    private let clock: @Sendable () -> Timestamp
    private let onStep: @Sendable (BackupStep) -> Void

    package init(
        of backup: BackupFile, to path: String, trustsFileSystem: Bool, _ evidence: RestoreEvidence,
        by actor: AuditActor? = nil, clock: @escaping @Sendable () -> Timestamp,
        onStep: @escaping @Sendable (BackupStep) -> Void = { _ in }
    ) throws(StoreError) {
        self.actor = actor
        self.onStep = onStep
        self.backup = backup
        self.evidence = evidence
        self.clock = clock
        target = try VaultFile(path, trustsFileSystem: trustsFileSystem)
        do throws(StoreError) { try target.checkFree() } catch {
            guard error.code == .vaultExists else { throw error }
            throw StoreError(
                .vaultExists, error.message,
                hint: VaultRemains(of: target.path)?.hintForRestore
                    ?? "restore to a new path; nothing is overwritten, and a damaged vault may still be needed. An "
                    + "interrupted restore leaves a vault only if it was complete: if it was this one, go on with it")
        }
    }

    package func run(
        by unlocker: any SlotUnlocker, policy: UnlockingPolicy, _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(StoreError) -> RestoreOutcome {
        // Report a wrong key before anything is copied.
        if backup.isOfThisSchema {
            let connection = try backup.connect()
            defer { connection.close() }
            _ = try backup.unlock(connection, unlocker, policy, clock)
        }
        try target.checkRoom(backup.manifest.byteCount + (1 << 20), for: "the restored vault")
        PartialFile.removeLeftovers(in: target.parent, of: target.name + ".")
        let file = try PartialFile(for: target)
        onStep(.reserved)
        try copy(into: file, progress)
        onStep(.copied)
        let outcome = try change(file, unlocker, policy)
        onStep(.changed)
        try file.write(DatabaseHeader.usesLog, at: DatabaseHeader.formatOffset)
        onStep(.sealed)
        try file.finish()
        onStep(.named)
        return outcome
    }

    private func copy(into file: PartialFile, _ progress: (Int, Int) -> Void) throws(StoreError) {
        var offset: Int64 = 0
        let total = Int(clamping: backup.manifest.byteCount >> 10)
        try unsafe backup.checkBytes { piece throws(StoreError) in
            try unsafe file.write(piece, at: offset)
            offset += Int64(piece.count)
            progress(Int(clamping: offset >> 10), total)
        }
        try file.write(DatabaseHeader.bytes(of: Connection.applicationID), at: DatabaseHeader.applicationIDOffset)
    }

    /// Makes all changes to a file that no other process knows and that is discarded on failure: no journal needed.
    private func change(
        _ file: PartialFile, _ unlocker: any SlotUnlocker, _ policy: UnlockingPolicy
    ) throws(StoreError) -> RestoreOutcome {
        let connection = try Connection(path: file.path)
        defer { connection.close() }
        try connection.prepareForInspection()
        try connection.prepareToChangeUnseen()
        let isOlder = try migrate(connection)
        let context = try backup.unlock(connection, unlocker, policy, clock)
        context.actor = actor
        try connection.execute("BEGIN IMMEDIATE")
        let transaction = try WriteTransaction(connection, context)
        try transaction.begin()
        if isOlder {
            try transaction.auditMigrations()
            try transaction.nameProviders()
        }
        let outcome = try transaction.restore(backup.manifest, at: backup.path, evidence)
        try connection.raiseFences()
        _ = try WALMark.replace(connection)
        try connection.execute("COMMIT")
        if let problem = try QuickCheck.problem(of: connection) { throw .damagedBackup(problem) }
        return outcome
    }

    /// Returns whether any migration was pending.
    private func migrate(_ connection: Connection) throws(StoreError) -> Bool {
        let found = try VaultSchema.version(of: connection)
        try VaultSchema.checkRecord(of: connection, version: found)
        let migrator = Migrator(target, clock: clock)
        let missing = Migrations.all.filter { $0.version > found }
        for migration in missing { try migrator.apply(migration, on: connection) }
        return !missing.isEmpty
    }
}

extension Connection {
    /// For a file that no other process knows and that is discarded on failure.
    func prepareToChangeUnseen() throws(StoreError) {
        for setting in ["journal_mode = OFF", "synchronous = OFF", "secure_delete = ON", "temp_store = MEMORY"] {
            try execute("PRAGMA \(setting)")
        }
    }

    fileprivate func raiseFences() throws(StoreError) {
        try setHighestFence(WriteTransaction.fence(beyondLifeOf: highestFence()))
    }
}
