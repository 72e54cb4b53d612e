/// The schema is brought up to date without a key. So the audit trail hears of it from the first process that has one.
extension WriteTransaction {
    static func hasUntoldMigrations(_ connection: Connection) throws(StoreError) -> Bool {
        try connection.integer("SELECT count(*) FROM migration WHERE auditSequence IS NULL") > 0
    }

    /// Once for all steps that are not recorded yet. The first of a vault without a manifest makes it.
    func tellOfMigrations() throws(StoreError) {
        let rows = try connection.statement(
            "SELECT name FROM migration WHERE auditSequence IS NULL ORDER BY version")
        var steps: [AuditEvent.Detail] = []
        while try rows.step() { steps.append(AuditEvent.Detail("step", rows.text(0))) }
        rows.reset()
        guard !steps.isEmpty || !self.rows.current.hasManifest else { return }
        let event = AuditEvent(.vaultMigrated, steps)
        if self.rows.current.hasManifest {
            try audit(event, about: AuditSubject())
        } else {
            let manifest = try collectManifest()
            try changeVault(event) { $0.manifest = manifest }
        }
        try markMigrationsAsTold()
    }

    /// By the row that was written last.
    func markMigrationsAsTold() throws(StoreError) {
        let update = try connection.statement("UPDATE migration SET auditSequence = ?1 WHERE auditSequence IS NULL")
        update.bind(1, head.sequence)
        try update.run()
    }
}

extension SQLiteVaultStore {
    /// Whether there are providers that got no index when the schema did, because no process had a key.
    var hasUnnamedProviders: Bool {
        get throws(StoreError) { try readers.read { reader throws(StoreError) in try reader.providers.hasUnnamed() } }
    }

    /// Never throws: what cannot be written now is told at the next opening.
    func tellOfMigrations() {
        _ = WriteBatch(context, place).perform([MigrationTale()])
    }
}

private final class MigrationTale: WriteOperation, @unchecked Sendable {
    override func run(_ transaction: WriteTransaction) throws {
        try transaction.tellOfMigrations()
        try transaction.nameProviders()
    }
}
