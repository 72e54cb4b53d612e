import VaultStorage

/// What a move has brought from one vault into another, or would bring.
public struct MoveReport: Sendable, Equatable {
    /// The id of the vault that everything comes from; see ``VaultStatus/vaultID``.
    public let source: String
    /// The id of the vault that has everything now.
    public let target: String
    public let providers: Int
    public let users: Int
    public let logins: Int
    public let pendingRevocations: Int
    /// Replies that could not be used, and are kept with their logins.
    public let keptReplies: Int
    /// Log-ins that were begun and not completed.
    public let pendingLogIns: Int
    /// The last row of the source's audit trail, which stays there.
    public let auditHead: Int
    /// Backups that the source knows of. They, and the list of them, stay the source's.
    public let backups: Int
    /// Whether an earlier run had begun the move.
    public let wasBegun: Bool

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
