/// Runs operations on the writer's connection, several of them in one transaction.
final class WriteBatch {
    private let connection: Connection
    private let transaction: WriteTransaction
    private let gate: CheckpointGate

    init(_ context: VaultContext) throws(StoreError) {
        connection = try Connection(path: context.path)
        try connection.configure()
        transaction = try WriteTransaction(connection, context)
        gate = CheckpointGate(path: context.path, writer: connection)
    }

    /// Runs and finishes all operations. Gives the number of commits that it took.
    func perform(_ operations: [WriteOperation]) -> Int {
        var rest = operations[...]
        var commits = 0
        while !rest.isEmpty {
            commits += 1
            let outcome = commit(rest)
            for operation in outcome.done { operation.finish(outcome.failure) }
            rest = rest.dropFirst(outcome.done.count)
        }
        gate.checkpointIfDue()
        return commits
    }

    /// Moves the WAL into the database file while nobody waits.
    func close() { gate.checkpoint() }

    private struct Outcome {
        var done: ArraySlice<WriteOperation>
        var failure: StoreError?
    }

    /// One transaction with as many of the operations as it survives. When SQLite gave it up in the middle, all that
    /// were in it fail with it, and the others get a transaction of their own.
    private func commit(_ operations: ArraySlice<WriteOperation>) -> Outcome {
        do throws(StoreError) {
            try connection.statement("BEGIN IMMEDIATE").run()
        } catch {
            return Outcome(done: operations, failure: error)
        }
        do throws(StoreError) {
            try transaction.begin()
            for index in operations.indices {
                run(operations[index])
                if connection.isOutsideTransaction {
                    return Outcome(done: operations[...index], failure: transaction.lostTransaction)
                }
            }
            try connection.statement("COMMIT").run()
            transaction.committed()
            return Outcome(done: operations, failure: nil)
        } catch {
            rollBack()
            return Outcome(done: operations, failure: error)
        }
    }

    /// Runs one operation; what it did is undone when it throws, and its neighbours feel nothing of it.
    private func run(_ operation: WriteOperation) {
        do {
            let mark = transaction.head
            try connection.statement("SAVEPOINT operation").run()
            do {
                try operation.run(transaction)
            } catch {
                transaction.restore(mark, after: error)
                if !connection.isOutsideTransaction {
                    try connection.statement("ROLLBACK TO operation").run()
                }
            }
            if !connection.isOutsideTransaction {
                try connection.statement("RELEASE operation").run()
            }
        } catch {
            transaction.note(error)
            rollBack()
        }
    }

    private func rollBack() {
        if !connection.isOutsideTransaction { try? connection.execute("ROLLBACK") }
    }
}
