import Glibc
import VaultCrypto
import VaultMigrations

/// Brings a vault's schema up to date. Forward only, one transaction for each step, and safe when two processes do it
/// at once: each looks again at the version after it has the write lock.
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

    func status() throws(StoreError) -> [MigrationStep] {
        try file.check()
        let connection = try inspect()
        let found = try VaultSchema.version(of: connection, known: known)
        var applied: [Int: Timestamp] = [:]
        if found > 0 {
            let rows = try Statement(connection, "SELECT version, appliedAt FROM migration")
            while try rows.step() { applied[Int(rows.integer(0))] = Timestamp(milliseconds: rows.integer(1)) }
        }
        return migrations.map { MigrationStep(version: $0.version, name: $0.name, appliedAt: applied[$0.version]) }
    }

    /// Applies what is pending, after a snapshot of the vault beside it. Gives the path of the snapshot, if there was
    /// anything to do.
    @discardableResult
    func migrate() throws(StoreError) -> String? {
        try file.check()
        let connection = try inspect()
        let found = try VaultSchema.version(of: connection, known: known)
        guard found < known else { return nil }
        try checkHistory(connection)
        let snapshot = try takeSnapshot(connection, version: found)
        try connection.configure()
        for migration in migrations where migration.version > found { try apply(migration, on: connection) }
        return snapshot
    }

    private func inspect() throws(StoreError) -> Connection {
        let connection = try Connection(path: file.path)
        try connection.prepareForInspection()
        return connection
    }

    /// Runs one step, unless another process has done so in the meantime.
    func apply(_ migration: Migration, on connection: Connection) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            if try connection.integer("PRAGMA user_version") < Int64(migration.version) {
                try connection.execute(migration.sql)
                try record(migration, on: connection)
                try connection.execute("PRAGMA user_version = \(migration.version)")
            }
            try connection.execute("COMMIT")
        } catch {
            if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
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

    /// Refuses to go on from a history that is not ours.
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

    /// A copy of the vault as it was, readable by its owner alone and durable before anything is changed.
    private func takeSnapshot(_ connection: Connection, version: Int) throws(StoreError) -> String {
        let path = "\(file.path).before-migration-\(version)-\(Base32.encode(SecureRandom.bytes16()))"
        let copy = try VaultFile(path)
        try copy.create()
        let statement = try Statement(connection, "VACUUM INTO ?1")
        statement.bind(1, copy.path)
        do throws(StoreError) {
            try statement.run()
            try VaultFile.synchronize(copy.path, directory: copy.parent)
        } catch {
            _ = unsafe unlink(copy.path)
            throw error
        }
        return copy.path
    }
}
