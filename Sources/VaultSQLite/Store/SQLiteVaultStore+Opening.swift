package import VaultCrypto
import Platform
import VaultMigrations
package import VaultStorage

extension SQLiteVaultStore {
    /// Makes a vault with one key slot, and one for each recipient. Never overwrites a file. Whenever the process is
    /// killed, the result is a complete vault or nothing.
    package static func create(
        at path: String, firstSlot: any SlotMaker, label: String, recipients: [Recipient] = [],
        trustsFileSystem: Bool = false, cachedLogins: Int = cachedLogins, by actor: AuditActor? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> SQLiteVaultStore {
        let file = try VaultFile(path, trustsFileSystem: trustsFileSystem)
        do throws(StoreError) { try file.checkFree() } catch { throw VaultSchema.explain(error, at: file) }
        let draft = try VaultDraft(firstSlot: firstSlot, label: label, recipients: recipients, now: clock())
        try draft.write(to: file, by: actor, clock: clock)
        let context = draft.context(clock)
        context.actor = actor
        do throws(StoreError) {
            return try SQLiteVaultStore(file, Database(file.path), context, cachedLogins: cachedLogins)
        } catch {
            // The file cannot be opened here, so no process has it open.
            for suffix in ["", "-wal", "-shm", ".lock"] { NamedFile(file.path + suffix).discard() }
            throw error
        }
    }

    /// Opens an existing vault. Where nothing can be written, it is opened read-only.
    /// - Parameters:
    ///   - migrate: whether to migrate an older schema, after a snapshot; otherwise it is refused.
    ///   - policy: the cost limits of trying the key slots.
    ///   - trustsFileSystem: whether to use a file system that is not known to be local.
    ///   - cachedLogins: how many logins' rows are kept in memory, sealed; 0: none.
    ///   - actor: the actor in the trail, also for what the opening itself records.
    package static func open(
        at path: String, unlocker: any SlotUnlocker, migrate: Bool = false, policy: UnlockingPolicy = .init(),
        trustsFileSystem: Bool = false, cachedLogins: Int = cachedLogins, by actor: AuditActor? = nil,
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
        context.actor = actor
        let isUnreported = try WriteTransaction.hasUnreportedMigrations(connection)
        let database = Database(file.path, access: connection.access, liveness: liveness)
        let store = try SQLiteVaultStore(file, database, context, cachedLogins: cachedLogins, connection)
        if database.access.isWritable {
            snapshots.removeExpired(before: schemaVersion, now: clock())
            try store.noteDepartedOwners(connection)
            let hasUnnamed = try store.hasUnnamedProviders
            if isUnreported || hasUnnamed { store.auditMigrations() }
        }
        return store
    }

    /// The applied and the pending migrations. Needs no key.
    package static func migrations(
        at path: String, trustsFileSystem: Bool = false
    ) throws(StoreError) -> [MigrationStep] {
        let file = try VaultFile(path, trustsFileSystem: trustsFileSystem)
        return try Migrator(file, clock: { Timestamp(milliseconds: 0) }).status()
    }

    /// The copies from before migrations, oldest version first. Needs no key.
    package static func migrationSnapshots(at path: String) throws(StoreError) -> [MigrationSnapshot] {
        try MigrationSnapshots(of: VaultFile(path)).list()
    }

    /// Removes copies from before migrations and returns them. Needs no key.
    package static func discardMigrationSnapshots(
        at path: String, _ isMeant: (MigrationSnapshot) -> Bool
    ) throws(StoreError) -> [MigrationSnapshot] {
        let snapshots = MigrationSnapshots(of: try VaultFile(path))
        let meant = try snapshots.list().filter(isMeant)
        for snapshot in meant { try snapshots.discard(snapshot) }
        return meant
    }

    /// Migrates the schema, after a snapshot. Returns the snapshot's path; `nil` if nothing was pending.
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
        if let context = try VaultContext.open(connection, unlocker: unlocker, policy: policy, clock: clock) {
            return context
        }
        try VaultSchema.checkFinished(connection)
        throw StoreError(.damaged, "the vault's own row is missing", hint: "restore a backup")
    }
}
