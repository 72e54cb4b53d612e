import Platform
import VaultMigrations
import VaultStorage

/// Migrates a vault's schema. Forward only, one transaction per step, and safe when two processes do it at once: each
/// checks the version again once it holds the write lock.
struct Migrator {
    let file: VaultFile
    let migrations: [Migration]
    let clock: @Sendable () -> Timestamp

    init(
        _ file: VaultFile, migrations: [Migration] = Migrations.all, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.file = file
        self.migrations = migrations
        self.clock = clock
    }

    private var known: Int { migrations.last?.version ?? 0 }

    /// The steps that the vault has taken, by the version in the file's header.
    func status() throws(StoreError) -> [MigrationStep] {
        try file.check()
        let connection = try inspect()
        let found = try version(of: connection)
        var applied: [Int: Timestamp] = [:]
        if found > 0 {
            let rows = try Statement(connection, "SELECT version, appliedAt FROM migration")
            while try rows.step() { applied[Int(rows.integer(0))] = Timestamp(milliseconds: rows.integer(1)) }
        }
        return migrations.map { MigrationStep(version: $0.version, name: $0.name, appliedAt: applied[$0.version]) }
    }

    /// Applies pending steps, after a snapshot in the vault's directory. Returns the snapshot's path if any step was
    /// pending.
    @discardableResult
    func migrate() throws(StoreError) -> String? {
        try file.check()
        let connection = try inspect()
        guard try version(of: connection) < known else { return nil }
        if let refusal = file.readOnlyRefusal { throw refusal }
        defer { connection.closeAsLast(of: file.path) }
        try checkHistory(connection)
        try settleDoubt(connection)
        try connection.configure()
        guard let (first, snapshot) = try applyFirst(connection) else { return nil }
        for migration in migrations where migration.version > first { try apply(migration, on: connection) }
        return snapshot
    }

    /// Takes the snapshot and the first pending step while no other process can write. So the snapshot is what the step
    /// started from, and of several concurrent processes exactly one makes it.
    private func applyFirst(_ connection: Connection) throws(StoreError) -> (version: Int, snapshot: String)? {
        let snapshots = MigrationSnapshots(of: file)
        try begin(connection, snapshots)
        var isUnchanged = true
        var snapshot: String?
        do throws(StoreError) {
            let found = Int(try connection.integer("PRAGMA user_version"))
            guard let next = migrations.first(where: { $0.version > found }) else {
                try connection.execute("ROLLBACK")
                return nil
            }
            let path = try snapshots.take(inspect(), version: found, now: clock())
            snapshot = path
            try take(next, on: connection)
            isUnchanged = false
            try connection.execute("COMMIT")
            return (next.version, path)
        } catch {
            if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
            if isUnchanged, let snapshot { NamedFile(snapshot).discard() }
            noteDoubt(after: error, connection)
            throw error
        }
    }

    /// Copying a big vault takes longer than others wait for the write lock.
    private func begin(_ connection: Connection, _ snapshots: MigrationSnapshots) throws(StoreError) {
        let end = SuspendingClock.now + .seconds(600)
        while true {
            do throws(StoreError) { return try connection.execute("BEGIN IMMEDIATE") } catch {
                guard error.code == .busy, snapshots.hasPartial, SuspendingClock.now < end else { throw error }
            }
        }
    }

    private func inspect() throws(StoreError) -> Connection {
        let connection = try file.connect()
        try connection.prepareForInspection()
        try WALMark.check(connection, file)
        return connection
    }

    private func version(of connection: Connection) throws(StoreError) -> Int {
        let found = try VaultSchema.version(of: connection, known: known)
        try VaultSchema.checkFinished(connection)
        try VaultSchema.checkRecord(of: connection, version: found, migrations: migrations)
        return found
    }

    /// No step may build on what a failed commit left in the WAL.
    private func settleDoubt(_ connection: Connection) throws(StoreError) {
        guard let lockFile = LockFile(besideVaultAt: file.path), lockFile.isWALDoubtful else { return }
        try CheckpointGate(path: file.path, writer: connection).startOver()
        lockFile.isWALDoubtful = false
    }

    /// Runs one step, unless another process has already run it.
    func apply(_ migration: Migration, on connection: Connection) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            if try connection.integer("PRAGMA user_version") < Int64(migration.version) {
                try take(migration, on: connection)
            }
            try connection.execute("COMMIT")
        } catch {
            if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
            noteDoubt(after: error, connection)
            throw error
        }
    }

    /// A failed commit may still be in the WAL without ever having reached the disk.
    private func noteDoubt(after error: StoreError, _ connection: Connection) {
        guard case .io = error.code, connection.access == .readWrite else { return }
        LockFile(besideVaultAt: file.path, creating: true)?.isWALDoubtful = true
    }

    private func take(_ migration: Migration, on connection: Connection) throws(StoreError) {
        try connection.execute(migration.sql)
        try record(migration, on: connection)
        try connection.execute("PRAGMA user_version = \(migration.version)")
    }

    private func record(_ migration: Migration, on connection: Connection) throws(StoreError) {
        let insert = try Statement(
            connection, "INSERT INTO migration (version, name, checksum, appliedAt) VALUES (?1, ?2, ?3, ?4)")
        insert.bind(1, Int64(migration.version))
        insert.bind(2, migration.name)
        insert.bind(3, migration.checksum)
        insert.bind(4, clock().milliseconds)
        try insert.run()
    }

    /// Refuses to continue from a history that is not ours.
    private func checkHistory(_ connection: Connection) throws(StoreError) {
        let rows = try Statement(connection, "SELECT version, name, checksum FROM migration")
        while try rows.step() {
            let version = Int(rows.integer(0))
            let isOurs = migrations.contains {
                $0.version == version && $0.name == rows.text(1) && $0.checksum == rows.integer(2)
            }
            guard isOurs else {
                throw StoreError(
                    .damaged, "the vault's record of migration \(version) is not what this program applied",
                    hint: "find out who changed the file; restore a backup")
            }
        }
    }
}
