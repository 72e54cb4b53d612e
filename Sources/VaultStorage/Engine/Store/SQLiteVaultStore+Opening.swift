package import VaultCrypto
import Glibc
import VaultMigrations

extension SQLiteVaultStore {
    /// Makes a vault with one key slot. Nothing is overwritten. Wherever the process is killed, there is a whole vault
    /// then, or nothing.
    package static func create(
        at path: String, firstSlot: any SlotMaker, label: String, trustsFileSystem: Bool = false,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> SQLiteVaultStore {
        let file = try VaultFile(path, trustsFileSystem: trustsFileSystem)
        do throws(StoreError) { try file.checkFree() } catch { throw VaultSchema.explain(error, at: file) }
        let draft = try VaultDraft(firstSlot: firstSlot, label: label, now: clock())
        try draft.write(to: file, clock: clock)
        do throws(StoreError) {
            return try SQLiteVaultStore(file, Database(file.path), draft.context(clock))
        } catch {
            // It cannot be opened here: no process has it open.
            for suffix in ["", "-wal", "-shm", ".lock"] { _ = unsafe unlink(file.path + suffix) }
            throw error
        }
    }

    /// Opens a vault that exists. Where nothing can be written it is opened for reading alone.
    /// - Parameters:
    ///   - migrate: whether an older schema is brought up to date, after a snapshot; otherwise it is refused.
    ///   - policy: what trying the key slots may cost.
    ///   - trustsFileSystem: whether one is used that is not known to be local.
    package static func open(
        at path: String, unlocker: any SlotUnlocker, migrate: Bool = false, policy: UnlockingPolicy = .init(),
        trustsFileSystem: Bool = false,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> SQLiteVaultStore {
        let file = try VaultFile(path, trustsFileSystem: trustsFileSystem)
        try file.check()
        let snapshots = MigrationSnapshots(of: file)
        try snapshots.check(before: schemaVersion)
        if migrate { try Migrator(file, clock: clock).migrate() }
        let liveness = Liveness()
        let connection = try file.connect(liveness)
        try connection.prepareForInspection()
        try WALMark.check(connection, file)
        try VaultSchema.check(connection)
        let context: VaultContext
        do throws(StoreError) {
            context = try unlock(connection, unlocker, policy, clock)
        } catch {
            connection.closeAsLast(of: file.path)
            throw error
        }
        let isUntold = try WriteTransaction.hasUntoldMigrations(connection)
        let database = Database(file.path, access: connection.access, liveness: liveness)
        let store = try SQLiteVaultStore(file, database, context, connection)
        if database.access.isWritable {
            snapshots.removeExpired(before: schemaVersion, now: clock())
            try store.noteDepartedOwners(connection)
            let hasUnnamed = try store.hasUnnamedProviders
            if isUntold || hasUnnamed { store.tellOfMigrations() }
        }
        return store
    }

    /// What has been, and what would be, done to the schema. Needs no key.
    package static func migrations(
        at path: String, trustsFileSystem: Bool = false
    ) throws(StoreError) -> [MigrationStep] {
        let file = try VaultFile(path, trustsFileSystem: trustsFileSystem)
        return try Migrator(file, clock: { Timestamp(milliseconds: 0) }).status()
    }

    /// The copies from before migrations, the oldest version first. Needs no key.
    package static func migrationSnapshots(at path: String) throws(StoreError) -> [MigrationSnapshot] {
        try MigrationSnapshots(of: VaultFile(path)).list()
    }

    /// Removes copies from before migrations, and gives those that are gone. Needs no key.
    package static func discardMigrationSnapshots(
        at path: String, _ isMeant: (MigrationSnapshot) -> Bool
    ) throws(StoreError) -> [MigrationSnapshot] {
        let snapshots = MigrationSnapshots(of: try VaultFile(path))
        let meant = try snapshots.list().filter(isMeant)
        for snapshot in meant { try snapshots.discard(snapshot) }
        return meant
    }

    /// Brings the schema up to date, after a snapshot. Gives the snapshot's path; `nil` if there was nothing to do.
    @discardableResult
    package static func migrate(
        at path: String, clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> String? {
        try Migrator(VaultFile(path), clock: clock).migrate()
    }

    private static func unlock(
        _ connection: Connection, _ unlocker: any SlotUnlocker, _ policy: UnlockingPolicy,
        _ clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> VaultContext {
        let row = try Statement(connection, "SELECT vaultID FROM vault")
        guard try row.step(), let vaultID = row.bytes16(0) else {
            try VaultSchema.checkFinished(connection)
            throw StoreError(.damaged, "the vault's own row is missing", hint: "restore a backup")
        }
        row.reset()
        let (slots, damage) = try KeySlotRows.all(connection)
        let opened = try unlock(slots, unlocker, policy, vaultID, damage)
        // The row, and what the trail says of it, are of one moment.
        try connection.execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        let vault = try VaultRow.load(connection, vault: vaultID, under: opened.vaultKey)
        let slot = try slot(of: vault, opened, slots, unlocker, policy, vaultID)
        let context = VaultContext(
            vaultID: vaultID, vaultKey: opened.vaultKey, openedBy: slot, row: vault, clock: clock)
        let trail = AuditTrail(tables: connection, context: context)
        guard try !trail.tellsOfLater(than: vault) else {
            throw StoreError(
                .rollbackSuspected,
                "the vault's own row is older than the audit trail records: a former state was put back",
                hint: "find out who changed the file; restore a whole backup")
        }
        return context
    }

    private static func unlock(
        _ slots: [KeySlot], _ unlocker: any SlotUnlocker, _ policy: UnlockingPolicy, _ vault: Bytes16,
        _ damage: StoreError?
    ) throws(StoreError) -> (vaultKey: SealingKey, slot: KeySlot) {
        do throws(VaultCryptoError) {
            return try KeySlot.unlock(slots, with: unlocker, vault: vault, policy: policy)
        } catch {
            if let damage, error.code == .wrongKey {
                throw StoreError(
                    .damaged, "this key opens no readable key slot of the vault; \(damage.reason)",
                    hint: "use another key of the vault, or restore a backup")
            }
            throw StoreError(opening: error)
        }
    }

    /// The slot that was opened, or another one of the same key, if the vault knows it. A slot that was removed still
    /// wraps the vault key: put back, it must not open the vault.
    private static func slot(
        of row: VaultRow, _ opened: (vaultKey: SealingKey, slot: KeySlot), _ slots: [KeySlot],
        _ unlocker: any SlotUnlocker, _ policy: UnlockingPolicy, _ vault: Bytes16
    ) throws(StoreError) -> ProvenKeySlot {
        do throws(VaultCryptoError) {
            if row.knows(opened.slot) { return try ProvenKeySlot(opened.slot) }
            return try ProvenKeySlot(
                KeySlot.unlock(
                    slots.filter { row.knows($0) }, with: unlocker, vault: vault, policy: policy
                ).slot)
        } catch {
            throw .quarantined(
                "keySlot", opened.slot.description.id, "the vault does not know it: it was planted or put back")
        }
    }
}

extension StoreError {
    /// Tells a wrong key from one that cannot be read, and both from a damaged vault.
    init(opening error: VaultCryptoError) {
        switch error.code {
        case .wrongKey: self.init(.wrongKey, error.reason, hint: error.hint)
        case .keyFileMissing, .keyFileUnreadable, .keyFileTruncated, .keyFileMalformed, .keyFileUnsafe,
            .passphraseEmpty, .passphraseTooLong, .unlockingTooDear:
            self.init(.keyUnavailable(error.code), error.reason, hint: error.hint)
        case .outOfMemory, .outOfGuardedMemory, .unavailable:
            self.init(.outOfMemory, error.reason, hint: error.hint)
        default:
            self.init(
                .damaged, "the vault's keys are damaged: \(error.reason)", hint: error.hint ?? "restore a backup")
        }
    }
}
