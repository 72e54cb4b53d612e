package import FoundationEssentials
import TokenVault
import VaultStorage

/// The steps of the schema's history that a vault has been through.
package struct MigrationStatus: Sendable, Equatable {
    /// All steps that this version knows, oldest first.
    package let steps: [Step]
    /// Copies that were kept from before migrations, the oldest version first.
    package let snapshots: [Snapshot]

    package struct Step: Sendable, Equatable {
        package let version: Int
        package let name: String
        /// nil: not applied yet.
        package let appliedAt: Date?
    }

    /// A copy of the vault from before a migration, next to it. It holds everything that the vault held then.
    package struct Snapshot: Sendable, Equatable {
        package let path: String
        /// Its schema version: the migration began there.
        package let schemaVersion: Int
        package let madeAt: Date
        package let byteCount: Int64
    }

    /// The newest step that has been applied; 0 for none.
    package var schemaVersion: Int { steps.last { $0.appliedAt != nil }?.version ?? 0 }
    package var newestVersion: Int { steps.last?.version ?? 0 }
    package var isUpToDate: Bool { schemaVersion == newestVersion }
}

extension MigrationStatus.Snapshot {
    init(_ snapshot: MigrationSnapshot) {
        self.init(
            path: snapshot.path, schemaVersion: snapshot.schemaVersion, madeAt: snapshot.madeAt.date,
            byteCount: snapshot.byteCount)
    }
}
