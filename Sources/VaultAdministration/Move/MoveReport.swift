import VaultStorage

/// The rows that a move has brought from one vault into another, or would bring.
package struct MoveReport: Sendable, Equatable {
    /// The id of the move's source; see ``StoreStatistics/vaultID``.
    package let source: String
    /// The id of the move's target.
    package let target: String
    package let providers: Int
    package let users: Int
    package let logins: Int
    package let pendingRevocations: Int
    /// Unusable replies that are kept with their logins.
    package let keptReplies: Int
    /// Log-ins that were begun and not completed.
    package let pendingLogIns: Int
    /// The last row of the source's audit trail, which stays there.
    package let auditHead: Int
    /// Backups that the source knows of. They, and the list of them, stay with the source.
    package let backups: Int
    /// Whether an earlier run had begun the move.
    package let wasBegun: Bool

    init(
        source: String, target: String, _ counts: MoveCounts, pendingLogIns: Int, auditHead: Int64, backups: Int,
        wasBegun: Bool
    ) {
        self.source = source
        self.target = target
        providers = Int(counts.providers)
        users = Int(counts.users)
        logins = Int(counts.logins)
        pendingRevocations = Int(counts.revocations)
        keptReplies = Int(counts.replies)
        self.pendingLogIns = pendingLogIns
        self.auditHead = Int(auditHead)
        self.backups = backups
        self.wasBegun = wasBegun
    }
}
