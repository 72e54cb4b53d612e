/// What an engine says about itself, and of what the vault's tables lie in.
package struct EngineReport: Sendable {
    package enum Kind: Sendable { case sqlite, postgreSQL, memory }

    /// Whether another server has what was committed.
    package enum Standby: Sendable { case none, asynchronous, synchronous }

    package let kind: Kind
    package let schemaVersion: Int
    package let byteCount: Int64
    /// Of the library or server that keeps the rows.
    package let version: String
    package let sourceID: String
    /// Whether this version can lose commits that it has acknowledged, if nothing guards against it.
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
