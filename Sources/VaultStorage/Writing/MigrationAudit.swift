/// Writes down, in the first process that has a key, what migrations have done without one.
package final class MigrationAudit: WriteOperation {
    package let comesAfterCommit = false

    package init() {}

    package func run(_ transaction: WriteTransaction) throws {
        try transaction.auditMigrations()
        try transaction.nameProviders()
    }

    /// What cannot be written now is written at the next opening.
    package func finish(_ failure: StoreError?) {}
}
