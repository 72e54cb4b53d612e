/// Records, in the first process that has a key, the migrations that ran without one.
package final class MigrationAudit: WriteOperation {
    package let comesAfterCommit = false

    package init() {}

    package func run(_ transaction: WriteTransaction) throws {
        try transaction.auditMigrations()
        try transaction.nameProviders()
    }

    /// If they cannot be recorded now, the next opening records them.
    package func finish(_ failure: StoreError?) {}
}
