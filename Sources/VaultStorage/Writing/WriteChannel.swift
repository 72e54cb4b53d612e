/// The writer's connection with what hangs on it. Given up as a whole after an error of the disk: what a connection
/// remembers of a file may not be what the file holds.
final class WriteChannel {
    let connection: Connection
    let transaction: WriteTransaction
    let gate: CheckpointGate
    /// How long the last transaction waited for others to end theirs.
    private(set) var waited = Duration.zero

    init(_ context: VaultContext, committedHead: WriteTransaction.AuditHead?) throws(StoreError) {
        connection = try Connection(path: context.path, liveness: context.liveness)
        try connection.configure()
        transaction = try WriteTransaction(connection, context, committedHead: committedHead)
        gate = CheckpointGate(path: context.path, writer: connection)
    }

    func begin() throws(StoreError) {
        let start = SuspendingClock.now
        try connection.statement("BEGIN IMMEDIATE").run()
        waited = start.duration(to: .now)
    }

    func commit() throws(StoreError) { try connection.statement("COMMIT").run() }

    func rollBack() {
        if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
    }
}
