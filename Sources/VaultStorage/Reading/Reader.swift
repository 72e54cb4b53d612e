import VaultCrypto

/// A connection that only reads, with the hot statements ready. Used by one thread at a time.
final class Reader: @unchecked Sendable {
    let connection: Connection
    let context: VaultContext
    let opener: RowOpener
    let sessionsOfUser: Statement
    let sessionOfLogin: Statement
    /// The end of the audit trail that was known before the snapshot that is being read. What is committed later is not in
    /// it, and is no reason to call it old.
    private(set) var headKnownAtBegin: Int64?

    /// - Parameter opened: a connection to the vault, to be taken over.
    init(_ context: VaultContext, _ opened: Connection? = nil) throws(StoreError) {
        self.context = context
        connection = if let opened { opened } else { try context.connect() }
        try connection.configure(isReader: true)
        sessionsOfUser = try connection.prepare(SQL.sessionsOfUser.text)
        sessionOfLogin = try connection.prepare(SQL.sessionOfLogin.text)
        opener = try RowOpener(connection, context)
    }

    /// Refuses a user, whose cell is open, of whom this process has seen a newer state.
    @inline(__always)
    func requireNotSeenLater(_ user: UserColumns) throws(StoreError) {
        if context.seen.isOlder(user.handle, user.revision) {
            opener.contradiction.mark = context.seen.revision(of: user.handle)
            throw .isOlderThanSeen(user.handle)
        }
    }

    /// Several statements that see one state of the vault. To be kept short: it holds up checkpoints.
    func withSnapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        headKnownAtBegin = context.seen.auditHead
        defer { headKnownAtBegin = nil }
        try connection.execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        return try body()
    }
}
