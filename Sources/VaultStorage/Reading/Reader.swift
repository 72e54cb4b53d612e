import VaultCrypto

/// Reads what the vault holds, with the hot queries ready. Used by one thread at a time.
final class Reader: @unchecked Sendable {
    let tables: any TableAccess
    let context: VaultContext
    let opener: RowOpener
    let sessionsOfUser: any RowCursor
    let sessionOfLogin: any RowCursor
    /// The end of the audit trail that was known before the snapshot that is being read. What is committed later is not in
    /// it, and is no reason to call it old.
    private(set) var headKnownAtBegin: Int64?

    init(_ tables: any TableAccess, _ context: VaultContext) throws(StoreError) {
        self.tables = tables
        self.context = context
        sessionsOfUser = try tables.cursor(.sessionsOfUser)
        sessionOfLogin = try tables.cursor(.sessionOfLogin)
        opener = try RowOpener(tables, context)
    }

    /// Refuses a user, whose cell is open, of whom this process has seen a newer state.
    @inline(__always)
    func requireNotSeenLater(_ user: UserColumns) throws(StoreError) {
        if context.seen.isOlder(user.handle, user.revision) {
            opener.contradiction.mark = context.seen.revision(of: user.handle)
            throw .isOlderThanSeen(user.handle)
        }
    }

    /// Several queries that see one state of the vault. To be kept short.
    func withSnapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        headKnownAtBegin = context.seen.auditHead
        defer { headKnownAtBegin = nil }
        return try tables.snapshot(body)
    }
}
