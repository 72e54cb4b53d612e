import VaultStorage

extension SQLiteVaultStore {
    /// Whether there are providers that got no index in the migration that added it, because no process had a key.
    var hasUnnamedProviders: Bool {
        get throws(StoreError) { try readers.read { reader throws(StoreError) in try reader.providers.hasUnnamed() } }
    }

    /// Never throws: what cannot be recorded now is recorded at the next opening.
    func auditMigrations() {
        WriteBatch(database, context, place).perform([MigrationAudit()], committed: { _ in })
    }
}
