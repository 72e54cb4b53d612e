/// Runs operations on the writer's connection, several of them in one transaction.
final class WriteBatch {
    private let context: VaultContext
    private let place: VaultPlace
    private var channel: WriteChannel?
    private var committedHead: WriteTransaction.AuditHead?
    /// Whether the WAL must begin anew before anything is committed. See ``startOver(_:)``.
    private var mustStartOver: Bool
    /// Whether a commit of this process is in doubt, and has not been overwritten by a later one.
    private var hasDoubt = false

    init(_ context: VaultContext, _ place: VaultPlace) {
        self.context = context
        self.place = place
        mustStartOver = place.isWALDoubtful
    }

    /// Runs and finishes all operations. Gives the number of commits that it took.
    ///
    /// - Parameter committed: Called after each commit, before those who waited for it go on: what observers of this
    ///   process begin because of it has begun then.
    func perform(_ operations: [WriteOperation], committed: () -> Void = {}) -> Int {
        var rest = operations[...]
        var commits = 0
        while !rest.isEmpty {
            commits += 1
            let outcome = commit(rest)
            committed()
            for operation in outcome.done { operation.finish(outcome.failure) }
            rest = rest.dropFirst(outcome.done.count)
        }
        if let channel { channel.gate.checkpointIfDue(waited: channel.waited) }
        return commits
    }

    /// Moves the WAL into the database file while nobody waits.
    func close() {
        if (try? place.checkProcess()) != nil { channel?.gate.checkpoint() }
    }

    private struct Outcome {
        var done: ArraySlice<WriteOperation>
        var failure: StoreError?
    }

    /// One transaction with as many of the operations as it survives. When SQLite gave it up in the middle, all that
    /// were in it fail with it, and the others get a transaction of their own.
    private func commit(_ operations: ArraySlice<WriteOperation>) -> Outcome {
        let channel: WriteChannel
        do throws(StoreError) {
            try place.checkProcess()
            channel = try currentChannel()
            try channel.begin()
        } catch {
            giveUp(after: error)
            return Outcome(done: operations, failure: error)
        }
        do throws(StoreError) {
            try place.checkFiles()
            try channel.transaction.begin()
            for index in operations.indices {
                run(operations[index], on: channel)
                if channel.connection.isOutsideTransaction {
                    let failure = channel.transaction.lostTransaction
                    giveUp(after: failure)
                    return Outcome(done: operations[...index], failure: failure)
                }
            }
        } catch {
            channel.rollBack()
            giveUp(after: error)
            return Outcome(done: operations, failure: error)
        }
        let failure = finish(channel)
        if let met = channel.transaction.notedFailure { giveUp(after: met) }
        return Outcome(done: operations, failure: failure)
    }

    private func finish(_ channel: WriteChannel) -> StoreError? {
        do throws(StoreError) {
            try channel.commit()
            noteCommit(channel)
            return nil
        } catch {
            let failed = FailedCommit(channel, error)
            guard failed.isDoubtful else {
                channel.rollBack()
                return error
            }
            self.channel = nil
            hasDoubt = true
            place.isWALDoubtful = true
            return settle(failed)
        }
    }

    /// A commit overwrites in the WAL what a failed one has left there.
    private func noteCommit(_ channel: WriteChannel) {
        channel.transaction.committed()
        committedHead = channel.transaction.committedHead
        if hasDoubt { place.isWALDoubtful = false }
        hasDoubt = false
    }

    private func currentChannel() throws(StoreError) -> WriteChannel {
        if let channel { return channel }
        let made = try WriteChannel(context, committedHead: committedHead)
        if mustStartOver { try startOver(made) }
        channel = made
        return made
    }

    /// Lets the WAL begin anew, or throws.
    ///
    /// A process could not find out what became of a commit of its, and is gone. A recovery of the WAL may have found
    /// what it left there, which was never synced: a later commit would stand on it, and be lost with it if the power
    /// failed. Written again it can be synced, in the WAL and then in the database file, and the WAL must not be
    /// continued after that. So for as long as somebody holds a snapshot, nothing is committed.
    private func startOver(_ channel: WriteChannel) throws(StoreError) {
        switch channel.gate.checkpoint(CheckpointSchedule.somePatience, ofDoubtfulWAL: true) {
        case .restartable:
            place.isWALDoubtful = false
            mustStartOver = false
        case .failed(let error): throw error
        case .incomplete, .complete:
            throw StoreError(
                .busy, "the vault is busy: somebody holds a snapshot of it, and a commit has failed before",
                hint: "end the backup or program that reads the file")
        }
    }

    /// Nothing is tried twice on a connection that has met an error of the disk.
    private func giveUp(after error: StoreError) {
        if case .io = error.code { channel = nil }
    }

    /// Runs one operation; what it did is undone when it throws, and its neighbours feel nothing of it.
    private func run(_ operation: WriteOperation, on channel: WriteChannel) {
        let (connection, transaction) = (channel.connection, channel.transaction)
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
            channel.rollBack()
        }
    }

    /// Finds out, on new connections, what became of a commit that failed; `nil` if it is in the vault after all.
    ///
    /// The commit that tells of it in the audit trail overwrites in the WAL what the failed one may have left there, so
    /// that no later recovery brings it back to life. It can only be there already if one has taken place: readers of
    /// this process keep the index of the WAL alive, but another process may have died in the middle of changing it.
    private func settle(_ failed: FailedCommit) -> StoreError? {
        do throws(StoreError) {
            let channel = try WriteChannel(context, committedHead: committedHead)
            try channel.begin()
            let isThere: Bool
            do throws(StoreError) {
                try place.checkFiles()
                try channel.transaction.begin()
                isThere = failed.hasLink ? try channel.transaction.holds(failed.head) : false
                try channel.transaction.audit(failed.event(isThere: isThere), about: AuditSubject())
                try channel.commit()
            } catch {
                channel.rollBack()
                throw error
            }
            if isThere {
                committedHead = channel.transaction.head
                mustStartOver = true
                try startOver(channel)
            }
            noteCommit(channel)
            self.channel = channel
            return isThere ? nil : failed.error
        } catch {
            return failed.error
        }
    }
}
