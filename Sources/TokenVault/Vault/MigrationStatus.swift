public import FoundationEssentials

/// Which steps of the schema's history a vault has been through.
public struct MigrationStatus: Sendable, Equatable {
    /// All that this version knows, oldest first.
    public let steps: [Step]

    public struct Step: Sendable, Equatable {
        public let version: Int
        public let name: String
        /// nil: not applied yet.
        public let appliedAt: Date?
    }

    /// The newest step that has been applied; 0 for none.
    public var schemaVersion: Int { steps.last { $0.appliedAt != nil }?.version ?? 0 }
    public var newestVersion: Int { steps.last?.version ?? 0 }
    public var isUpToDate: Bool { schemaVersion == newestVersion }
}
