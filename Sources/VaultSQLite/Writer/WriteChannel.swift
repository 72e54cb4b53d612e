import VaultStorage

/// The writer's connection with what hangs on it. Given up as a whole after an error of the disk: what a connection
/// remembers of a file may not be what the file holds.
final class WriteChannel {
    let connection: Connection
    let transaction: WriteTransaction
    let gate: CheckpointGate
    /// How long the last transaction waited for others to end theirs.
    private(set) var waited = Duration.zero
    private let path: String
    /// Whether the WAL may still be empty. Only the first transaction of a connection can find it so.
    private var isFirst = true
    /// Whether the transaction that is open begins the WAL, and how much had been changed before it.
    private var begins: (isTrue: Bool, changes: Int) = (false, 0)

    init(
        _ database: Database, _ context: VaultContext, committedHead: WriteTransaction.AuditHead?
    ) throws(StoreError) {
        path = database.path
        connection = try database.connect()
        try connection.configure()
        transaction = try WriteTransaction(connection, context, committedHead: committedHead)
        gate = CheckpointGate(
            path: database.path, writer: connection, hasLongSnapshot: database.hasLongSnapshot)
    }

    func begin() throws(StoreError) {
        try connection.reduceCacheIfIdle()
        let start = SuspendingClock.now
        do throws(StoreError) {
            try connection.statement("BEGIN IMMEDIATE").run()
        } catch  where error.code == .busy {
            throw WALLocks.writer(besideVaultAt: path).map { .busy(writer: $0) } ?? error
        }
        waited = start.duration(to: .now)
        if isFirst { begins = (WALFile.size(besideVaultAt: path) == 0, connection.totalChanges) }
    }

    /// With the mark of a new WAL, if this is its first commit; see ``WALMark``.
    func commit() throws(StoreError) {
        if isFirst {
            if begins.isTrue, connection.totalChanges != begins.changes { _ = try WALMark.replace(connection) }
            isFirst = false
        }
        try connection.statement("COMMIT").run()
    }

    func rollBack() {
        if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
    }
}
