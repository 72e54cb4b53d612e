import VaultStorage

/// Runs each operation in a savepoint of one transaction.
final class WriteBatch: WriteBatching {
    private let database: Database
    private let context: VaultContext
    private let place: VaultFileIdentity
    private var channel: WriteChannel?
    private var committedHead: WriteTransaction.AuditHead?
    /// Whether the WAL must restart before anything is committed. See ``startOver(_:)``.
    private var mustStartOver: Bool
    /// Whether a commit of this process is in doubt, and no later commit has overwritten it.
    private var hasDoubt = false
    /// Whether the WAL's file still has to be truncated.
    private var owesCut = false
    /// The number of commits before the next attempt to truncate.
    private var commitsBeforeCut = 0

    init(_ database: Database, _ context: VaultContext, _ place: VaultFileIdentity) {
        self.database = database
        self.context = context
        self.place = place
        mustStartOver = place.isWALDoubtful
    }

    func perform(_ operations: [any WriteOperation], committed: (_ dueFrom: Timestamp) -> Void) {
        let afterwards = operations.filter(\.comesAfterCommit)
        var rest = afterwards.isEmpty ? operations[...] : operations.filter { !$0.comesAfterCommit }[...]
        var commits = 0
        var isLastDone = false
        while !rest.isEmpty {
            commits += 1
            let outcome = commit(rest)
            committed(channel?.transaction.dueFrom ?? .earliest)
            for operation in outcome.done { operation.finish(outcome.failure) }
            isLastDone = outcome.failure == nil
            rest = rest.dropFirst(outcome.done.count)
        }
        // After a successful commit, the files are those that belong to the vault.
        if let channel, isLastDone {
            if let outcome = channel.gate.checkpointIfDue(
                waited: channel.waited, isBatch: channel.connection.hasBigCache)
            {
                note(outcome)
            }
            commitsBeforeCut -= commits
            if owesCut, commitsBeforeCut <= 0 { _ = cutWAL(timeLimit: .zero) }
        }
        for operation in afterwards { operation.finish(cutWAL(timeLimit: CheckpointSchedule.shortTimeLimit)) }
    }

    func performAtOnce(_ operation: any WriteOperation, committed: (_ dueFrom: Timestamp) -> Void) -> Bool {
        guard let channel, !mustStartOver, !hasDoubt, !owesCut, !channel.gate.isCheckpointDue,
            (try? place.checkProcess()) != nil, channel.beginAtOnce()
        else { return false }
        let outcome = commit([operation], begunOn: channel)
        committed(self.channel?.transaction.dueFrom ?? .earliest)
        for operation in outcome.done { operation.finish(outcome.failure) }
        return true
    }

    /// Moves the WAL into the database file while no caller waits. The last process leaves that to SQLite; see
    /// ``Connection/checkpointsWhenLast()``.
    func close() {
        guard let channel, (try? place.checkProcess()) != nil, !place.isAlone else { return }
        // With an index that is no longer the vault's, the wrong pages would be copied.
        guard (try? place.checkFiles(channel.connection)) != nil else { return }
        note(channel.gate.checkpoint(rest: .isCutOff))
    }

    /// Restarts the WAL and truncates its file. Returns `nil` on success.
    private func cutWAL(timeLimit: Duration) -> StoreError? {
        do throws(StoreError) {
            try place.checkProcess()
            let channel = try currentChannel()
            try place.checkFiles(channel.connection)
            let outcome = channel.gate.checkpoint(timeLimit, rest: .isCutOff)
            note(outcome)
            switch outcome {
            case .begunAnew: return nil
            case .failed(let error), .doubtful(let error): throw error
            case .incomplete, .complete, .restartable:
                throw StoreError(.busy, "the vault is busy: a process still reads it as it was")
            }
        } catch {
            owesCut = true
            commitsBeforeCut = 8
            return error
        }
    }

    private func note(_ outcome: CheckpointGate.Outcome) {
        switch outcome {
        case .begunAnew: owesCut = false
        case .doubtful:
            // A recovery may bring back the uncommitted mark; nothing may build on it.
            channel = nil
            mustStartOver = true
            place.isWALDoubtful = true
        case .failed, .incomplete, .complete, .restartable: break
        }
    }

    private struct Outcome {
        var done: ArraySlice<any WriteOperation>
        var failure: StoreError?
    }

    /// One transaction with as many of the operations as possible. When SQLite aborts it midway, all operations in it
    /// fail with it, and the rest get a transaction of their own.
    private func commit(_ operations: ArraySlice<any WriteOperation>) -> Outcome {
        let channel: WriteChannel
        do throws(StoreError) {
            try place.checkProcess()
            channel = try currentChannel()
            try channel.begin()
        } catch {
            giveUp(after: error)
            return Outcome(done: operations, failure: error)
        }
        return commit(operations, begunOn: channel)
    }

    private func commit(_ operations: ArraySlice<any WriteOperation>, begunOn channel: WriteChannel) -> Outcome {
        do throws(StoreError) {
            try place.checkFiles(channel.connection)
            try channel.transaction.begin()
            if operations.count == 1, let only = operations.first {
                return runAlone(only, operations, on: channel)
            }
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

    /// An operation that runs alone is undone with its transaction: a savepoint would copy each page before it changes.
    private func runAlone(
        _ operation: any WriteOperation, _ operations: ArraySlice<any WriteOperation>, on channel: WriteChannel
    ) -> Outcome {
        let transaction = channel.transaction
        do {
            try channel.gate.copyingBeside { try operation.run(transaction) }
        } catch {
            transaction.note(error)
            let failure = channel.connection.isOutsideTransaction ? transaction.lostTransaction : nil
            channel.rollBack()
            if let met = failure ?? transaction.notedFailure { giveUp(after: met) }
            return Outcome(done: operations, failure: failure)
        }
        let failure = finish(channel)
        if let met = transaction.notedFailure { giveUp(after: met) }
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
        let made = try WriteChannel(database, context, committedHead: committedHead)
        if mustStartOver {
            try startOver(made)
        } else if WALFile.size(besideVaultAt: database.path) > CheckpointSchedule.leftover {
            let outcome = made.gate.checkpoint(rest: .isCutOff)
            if case .doubtful(let error) = outcome {
                note(outcome)
                throw error
            }
        }
        channel = made
        return made
    }

    /// Restarts the WAL, or throws.
    ///
    /// A process could not settle one of its commits, and is gone. A recovery of the WAL may have found its frames
    /// there, which were never synced: a later commit would build on them, and be lost with them in a power failure.
    /// Written again, they can be synced, first in the WAL and then in the database file; after that the WAL must not
    /// be continued. So nothing is committed while any snapshot is held.
    private func startOver(_ channel: WriteChannel) throws(StoreError) {
        try channel.gate.startOver(rest: .beginsAnew)
        place.isWALDoubtful = false
        mustStartOver = false
    }

    /// Nothing is retried on a connection that has met a disk error.
    private func giveUp(after error: StoreError) {
        if case .io = error.code { channel = nil }
    }

    /// Runs one operation. If it throws, its changes are undone, without effect on the other operations.
    private func run(_ operation: any WriteOperation, on channel: WriteChannel) {
        let (connection, transaction) = (channel.connection, channel.transaction)
        do {
            let mark = transaction.mark
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

    /// Finds out, on new connections, what happened to a failed commit; `nil` if it is in the vault after all.
    ///
    /// The commit that records it in the audit trail overwrites the failed one's frames in the WAL, so that no later
    /// recovery revives it. The frames can be visible already only after a recovery: this process's readers keep the
    /// WAL's index alive, but another process may have died while changing it.
    private func settle(_ failed: FailedCommit) -> StoreError? {
        do throws(StoreError) {
            let channel = try WriteChannel(database, context, committedHead: committedHead)
            try channel.begin()
            let isThere: Bool
            do throws(StoreError) {
                try place.checkFiles(channel.connection)
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
