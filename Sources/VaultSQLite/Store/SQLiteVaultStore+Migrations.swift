import VaultStorage

extension SQLiteVaultStore {
    /// Whether there are providers that got no index when the schema did, because no process had a key.
    var hasUnnamedProviders: Bool {
        get throws(StoreError) { try readers.read { reader throws(StoreError) in try reader.providers.hasUnnamed() } }
    }

    /// Never throws: what cannot be written now is told at the next opening.
    func auditMigrations() {
        WriteBatch(database, context, place).perform([MigrationAudit()], committed: { _ in })
    }
}
