import VaultStorage

/// The writer's connection and everything that depends on it. Discarded as a whole after a disk error: a connection's
/// cached view of the file may differ from the file.
final class WriteChannel {
    let connection: Connection
    let transaction: WriteTransaction
    let gate: CheckpointGate
    /// How long the last transaction waited for others to end theirs.
    private(set) var waited = Duration.zero
    private let path: String
    /// Whether the WAL may still be empty. Only a connection's first transaction can find it empty.
    private var isFirst = true
    /// Whether the open transaction begins the WAL, and the number of changes before it.
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
        noteBeginning()
    }

    /// False if another process has the write lock, or something is wrong, of which ``begin()`` tells.
    func beginAtOnce() -> Bool {
        do throws(StoreError) {
            try connection.reduceCacheIfIdle()
            try connection.withoutWaiting { () throws(StoreError) in try connection.statement("BEGIN IMMEDIATE").run() }
        } catch {
            return false
        }
        waited = .zero
        noteBeginning()
        return true
    }

    private func noteBeginning() {
        if isFirst { begins = (WALFile.size(besideVaultAt: path) == 0, connection.totalChanges) }
    }

    /// Commits, with the mark of a new WAL if this is its first commit; see ``WALMark``.
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
