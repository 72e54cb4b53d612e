import VaultCrypto
import VaultStorage

/// A process's work after a failover or a restore, on a server timeline that is not settled yet.
///
/// Acknowledged commits may be missing. Each process redoes those that it remembers, in numerical order, and reports
/// how many changes it knows of. Until this is over, the vault accepts no other changes. If all processes that had the
/// vault open are back and nothing is missing, work continues. Otherwise all logins are held, because refresh tokens
/// may have been spent without a trace (ADR 0084).
struct FailoverSettlement {
    /// This process's knowledge from before the failover.
    struct Knowledge {
        let head: WriteTransaction.AuditHead?
        let incarnation: Int64
    }

    enum Step {
        /// A process has not come back yet.
        case waiting
        /// Work continues in this transaction. If commits were lost, earlier knowledge no longer counts.
        case settled(WriteTransaction, haveBeenLost: Bool)
    }

    let tables: ServerTables
    let context: VaultContext
    let memory: CommitMemory
    let watch: TimelineTracker
    let owner: Int64?

    private var history: ServerTimeline? { tables.connection.history }

    /// - Parameter hasWaited: whether the time to wait for other processes is over.
    func step(_ known: Knowledge, hasWaited: Bool, hasWaitedForReaders: Bool = true) throws(StoreError) -> Step {
        do throws(StoreError) {
            let found = try tables.beginSettling()
            if found.history == history, found.isHere { return try takeUp(known, found) }
            return try settle(known, found, hasWaited: hasWaited, hasWaitedForReaders: hasWaitedForReaders)
        } catch {
            tables.rollBack()
            throw error
        }
    }

    // MARK: Settled by others

    /// Continues where others have settled. Every change that this process knows of must be there, unless others have
    /// recorded its loss.
    private func takeUp(_ known: Knowledge, _ found: ServerTables.Turn) throws(StoreError) -> Step {
        let transaction = try WriteTransaction(tables, context, committedHead: known.head)
        if try isThere(transaction, found) {
            tables.rollBack()
            watch.settle(history, changes: found.changes)
            // Users that this process has read but not changed may have been set back.
            return .settled(transaction, haveBeenLost: context.incarnation > known.incarnation)
        }
        let fresh = try WriteTransaction(tables, context)
        try fresh.begin()
        if context.incarnation > known.incarnation {
            tables.rollBack()
            memory.forgetAll()
            watch.settle(history, changes: found.changes)
            return .settled(fresh, haveBeenLost: true)
        }
        // The others could not know of it: this process came back too late. Or the database was set back under a
        // running server.
        return try conclude(known, found, redone: 0, isKept: false)
    }

    /// Begins the transaction. False if a change that this process made, or saw others make, is missing.
    private func isThere(
        _ transaction: WriteTransaction, _ found: ServerTables.Turn
    ) throws(StoreError) -> Bool {
        do throws(StoreError) { try transaction.begin() } catch {
            if error.code == .rollbackSuspected { return false }
            throw error
        }
        return (watch.knownChanges ?? 0) <= found.changes
    }

    // MARK: Settling

    private func settle(
        _ known: Knowledge, _ found: ServerTables.Turn, hasWaited: Bool, hasWaitedForReaders: Bool
    ) throws(StoreError) -> Step {
        var found = found
        var redone = try redo(&found, withDoubtful: false)
        // Includes changes that were only seen: a standby that was not the synchronous one may lack changes promised to
        // others.
        let own = watch.knownChanges
        var peers = try tables.report(owner, own, left: watch.left, in: history)
        // The missing change may be a commit whose process never learned the outcome.
        if peers.knownChanges > found.changes, peers.missing == 0 || hasWaited {
            redone += try redo(&found, withDoubtful: true)
            peers = try tables.report(owner, own, left: watch.left, in: history)
        }
        let isWhole = peers.survivors > 0 && peers.knownChanges <= found.changes
        if isWhole, peers.missingReaders > 0, !hasWaitedForReaders {
            try commit()
            return .waiting
        }
        if isWhole, peers.missing == 0 || hasWaited && found.isSynchronous {
            return try conclude(known, found, redone: redone, isKept: true)
        }
        if hasWaited { return try conclude(known, found, redone: redone, isKept: false) }
        try commit()
        return .waiting
    }

    /// Redoes the missing transactions that this process remembers. Returns their number.
    private func redo(_ found: inout ServerTables.Turn, withDoubtful: Bool) throws(StoreError) -> Int {
        let missing = memory.transactions(after: found.changes, withDoubtful: withDoubtful)
        guard let first = missing.first, let last = missing.last else { return 0 }
        guard try WriteTransaction.lastHead(tables) == first.before else { return 0 }
        for transaction in missing { try tables.redo(transaction.changes) }
        guard try WriteTransaction.lastHead(tables) == last.after else {
            throw StoreError(
                .rollbackSuspected, "replaying the commits from before the failover gives another result",
                hint: "find out who changed the database; nothing is written to it")
        }
        if last.number == memory.doubtful?.number { memory.keepDoubtful() }
        found.changes = last.number
        try tables.setChanges(found.changes)
        return missing.count
    }

    /// Ends the settlement for all processes, and records it.
    private func conclude(
        _ known: Knowledge, _ found: ServerTables.Turn, redone: Int, isKept: Bool
    ) throws(StoreError) -> Step {
        let changes = found.changes + 1
        try tables.setHistory(history, changes: changes)
        if isKept, let transaction = try kept(known, found, redone) {
            try commit()
            return done(transaction, changes, haveBeenLost: false)
        }
        let transaction = try WriteTransaction(tables, context)
        try transaction.begin()
        try transaction.holdAllLogins(event(found, redone, isKept: false))
        try commit()
        return done(transaction, changes, haveBeenLost: true)
    }

    /// nil if this process misses a change that it knows of, whatever the numbers say.
    private func kept(
        _ known: Knowledge, _ found: ServerTables.Turn, _ redone: Int
    ) throws(StoreError) -> WriteTransaction? {
        let transaction = try WriteTransaction(tables, context, committedHead: known.head)
        do throws(StoreError) { try transaction.begin() } catch {
            if error.code == .rollbackSuspected { return nil }
            throw error
        }
        try transaction.audit(event(found, redone, isKept: true), about: AuditSubject())
        return transaction
    }

    private func done(_ transaction: WriteTransaction, _ changes: Int64, haveBeenLost: Bool) -> Step {
        transaction.committed()
        if haveBeenLost { memory.forgetAll() }
        memory.add(
            CommitMemory.Transaction(
                number: changes, before: transaction.headAtBegin, after: transaction.head,
                changes: tables.takeRecord()))
        watch.settle(history, changes: changes)
        watch.acknowledge(changes, transaction.head, in: history)
        return .settled(transaction, haveBeenLost: haveBeenLost)
    }

    private func commit() throws(StoreError) {
        switch tables.commit() {
        case .durable: return
        case .undone(let error), .unknown(let error): throw error
        }
    }

    private func event(_ found: ServerTables.Turn, _ redone: Int, isKept: Bool) -> AuditEvent {
        AuditEvent(
            .failoverSettled,
            [
                .init("from", "\(found.history.timeline)"), .init("to", "\(history?.timeline ?? 0)"),
                .init("cluster", found.history.system != history?.system ? "other" : found.isHere ? "same" : "copied"),
                .init("redone", "\(redone)"), .init("outcome", isKept ? "whole" : "lost"),
            ])
    }
}
