import VaultMigrations
import VaultStorage

extension VaultDraft {
    /// Makes the vault in memory as one complete file: it reaches the disk completely or not at all.
    func write(
        to file: VaultFile, by actor: AuditActor? = nil, clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) {
        let connection = try Connection(path: ":memory:", access: .memory)
        try connection.execute("PRAGMA page_size = 4096")
        try connection.execute("PRAGMA application_id = \(Connection.applicationID)")
        try connection.prepareForInspection()
        let migrator = Migrator(file, clock: clock)
        for migration in Migrations.all { try migrator.apply(migration, on: connection) }
        try connection.execute("BEGIN IMMEDIATE")
        let context = context(clock)
        context.actor = actor
        try fill(connection, context)
        try connection.execute("COMMIT")
        try unsafe connection.withImage { image throws(StoreError) in try unsafe file.create(image) }
    }
}
