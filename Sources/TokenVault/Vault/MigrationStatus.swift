public import FoundationEssentials
import VaultStorage

/// Which steps of the schema's history a vault has been through.
public struct MigrationStatus: Sendable, Equatable {
    /// All that this version knows, oldest first.
    public let steps: [Step]
    /// Copies that were kept from before migrations, the oldest version first.
    public let snapshots: [Snapshot]

    public struct Step: Sendable, Equatable {
        public let version: Int
        public let name: String
        /// nil: not applied yet.
        public let appliedAt: Date?
    }

    /// A copy of the vault from before a migration, beside it. It holds everything that the vault held then.
    public struct Snapshot: Sendable, Equatable {
        public let path: String
        /// Which schema version it has: the migration began from there.
        public let schemaVersion: Int
        public let madeAt: Date
        public let byteCount: Int64
    }

    /// The newest step that has been applied; 0 for none.
    public var schemaVersion: Int { steps.last { $0.appliedAt != nil }?.version ?? 0 }
    public var newestVersion: Int { steps.last?.version ?? 0 }
    public var isUpToDate: Bool { schemaVersion == newestVersion }
}

extension MigrationStatus.Snapshot {
    init(_ snapshot: MigrationSnapshot) {
        self.init(
            path: snapshot.path, schemaVersion: snapshot.schemaVersion, madeAt: snapshot.madeAt.date,
            byteCount: snapshot.byteCount)
    }
}
