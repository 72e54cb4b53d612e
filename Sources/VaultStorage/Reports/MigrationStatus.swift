/// One migration of the schema, and whether this vault has applied it.
package struct MigrationStep: Equatable, Sendable {
    package let version: Int
    package let name: String
    /// `nil` while it is pending.
    package let appliedAt: Timestamp?

    package init(version: Int, name: String, appliedAt: Timestamp?) {
        self.version = version
        self.name = name
        self.appliedAt = appliedAt
    }
}

/// A copy of the vault from before a migration. It holds everything that the vault held then, including erased users.
package struct MigrationSnapshot: Equatable, Sendable {
    package let path: String
    /// The schema version of the copy.
    package let schemaVersion: Int
    package let madeAt: Timestamp
    package let byteCount: Int64

    package init(path: String, schemaVersion: Int, madeAt: Timestamp, byteCount: Int64) {
        self.path = path
        self.schemaVersion = schemaVersion
        self.madeAt = madeAt
        self.byteCount = byteCount
    }
}
