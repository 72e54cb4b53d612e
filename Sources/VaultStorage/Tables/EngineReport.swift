/// An engine's report about itself and the storage of the vault's tables.
package struct EngineReport: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case sqlite = "SQLite"
        case postgreSQL = "PostgreSQL"
        /// For tests.
        case memory
    }

    /// Whether a standby server has the committed data.
    package enum Standby: Sendable { case none, asynchronous, synchronous }

    package let kind: Kind
    package let schemaVersion: Int
    package let byteCount: Int64
    /// The version of the library or server that stores the rows.
    package let version: String
    package let sourceID: String
    /// Whether this version can lose acknowledged commits if nothing guards against it.
    package let canLoseCommits: Bool
    /// nil for an engine without a server.
    package let standby: Standby?

    package init(
        kind: Kind, schemaVersion: Int, byteCount: Int64, version: String, sourceID: String, canLoseCommits: Bool,
        standby: Standby? = nil
    ) {
        self.kind = kind
        self.schemaVersion = schemaVersion
        self.byteCount = byteCount
        self.version = version
        self.sourceID = sourceID
        self.canLoseCommits = canLoseCommits
        self.standby = standby
    }
}
