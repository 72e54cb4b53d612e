import Platform
import VaultStorage

/// Runs operations in one transaction of the server. Each transaction that changes the vault waits for its turn first, so
/// nothing changes beneath it, and no two meet.
final class ServerWriteBatch: WriteBatching {
    /// How often a batch is tried that met others' locks, or lost its connection before the commit.
    private static let tries = 3

    private let address: ServerAddress
    private let context: VaultContext
    private let peers: PeerLiveness
    private let watch: TimelineTracker
    private let patience: FailoverTimeouts
    private let memory = CommitMemory()
    private var channel: Channel?
    private var committedHead: WriteTransaction.AuditHead?
    /// Since when this process meets histories that are not settled.
    private var unsettledSince: SuspendingClock.Instant?
    /// The vault's when the last change was committed.
    private var incarnation: Int64

    /// A connection with what writes by it.
    private struct Channel {
        let tables: ServerTables
        let transaction: WriteTransaction
        let session: ServerSession
    }

    /// - Parameter known: what a process of this machine has left that had the vault open before.
    init(
        _ address: ServerAddress, _ context: VaultContext, _ peers: PeerLiveness, _ watch: TimelineTracker = .init(),
        patience: FailoverTimeouts = .init(), known: FailoverSettlement.Knowledge? = nil
    ) {
        self.address = address
        self.context = context
        self.peers = peers
        self.watch = watch
        self.patience = patience
        committedHead = known?.head
        incarnation = known?.incarnation ?? context.incarnation
    }

    func perform(_ operations: [any WriteOperation], committed: (_ dueFrom: Timestamp) -> Void) {
        let failure = commit(operations)
        committed(channel?.transaction.dueFrom ?? .earliest)
        for operation in operations { operation.finish(failure) }
    }

    /// How often answers were waited for on the present connection.
    var roundTrips: Int { channel?.tables.connection.roundTrips ?? 0 }

    func close() { channel?.tables.connection.close() }

    // MARK: One transaction

    private func commit(_ operations: [any WriteOperation]) -> StoreError? {
        var met = StoreError.contended
        var isCareful = false
        var left = Self.tries
        while left > 0 {
            switch attempt(operations, isCareful: isCareful) {
            case .done(let failure): return failure
            case .again(let error):
                met = error
                left -= 1
            case .carefully: isCareful = true
            }
        }
        return met
    }

    private enum Attempt {
        case done(StoreError?)
        /// Nothing was changed, and it may go better the next time.
        case again(StoreError)
        /// Nothing was changed. Something has failed, and it has to be found out what.
        case carefully
    }

    /// - Parameter isCareful: Whether each operation has a savepoint, and is waited for. Hardly ever does one fail after it has
    ///   changed something: so at first none has, and a whole batch costs one question for each that is read.
    private func attempt(_ operations: [any WriteOperation], isCareful: Bool) -> Attempt {
        let channel: Channel
        do throws(StoreError) { channel = try currentChannel() } catch { return .done(error) }
        channel.tables.waitsForChanges = isCareful
        // A process that only looks takes no number, which others would miss.
        let isLook = operations.allSatisfy { $0 is TimelineCheck }
        do throws(StoreError) {
            try begin(channel, foreseeing: isCareful ? [] : operations, announces: !isLook)
            if isLook {
                channel.tables.rollBack()
                return .done(nil)
            }
            for operation in operations {
                let isDone = isCareful ? try run(operation, on: channel) : tryOut(operation, on: channel)
                if isDone { continue }
                channel.tables.rollBack()
                guard channel.tables.connection.end == nil else { throw StoreError.unreachable }
                return .carefully
            }
        } catch {
            channel.tables.rollBack()
            if error == .unsettled {
                do throws(StoreError) { try settleFailover(channel) } catch { return .done(error) }
                return .again(error)
            }
            guard channel.tables.connection.end != nil else {
                // A row that the server cannot read must fail no operation but that which needs it.
                return error.code == .busy ? .again(error) : isCareful ? .done(error) : .carefully
            }
            // The connection was lost, perhaps long ago, and with it everything that was not committed.
            self.channel = nil
            return .again(error)
        }
        return finish(channel, isCareful: isCareful)
    }

    /// Waits for this process's turn.
    private func begin(
        _ channel: Channel, foreseeing operations: [any WriteOperation] = [], announces: Bool = true
    ) throws(StoreError) {
        let (tables, transaction) = (channel.tables, channel.transaction)
        var questions: [BoundQuery] = []
        let expectsOthers = !operations.isEmpty && transaction.hasLooked
        if expectsOthers { questions += transaction.looks }
        for operation in operations { operation.prefetchHint.addQuestions(to: &questions, context) }
        try tables.beginWriting(questions, expectsOthers: expectsOthers, announces: announces)
        if watch.history == nil { watch.settle(tables.connection.history, changes: tables.turn - 1) }
        // Others have settled what there was to settle, and this process has yet to look at it.
        guard watch.history == tables.connection.history else { throw .unsettled }
        // What is missing in a history that goes on was put back to an earlier state: all is held then, as after a restore.
        guard tables.turn > watch.knownChanges ?? 0 else { throw .unsettled }
        do throws(StoreError) { try transaction.begin() } catch {
            throw error.code == .rollbackSuspected ? .unsettled : error
        }
        incarnation = context.incarnation
    }

    /// Runs one operation; what it did is undone when it throws, and its neighbours feel nothing of it.
    private func run(_ operation: any WriteOperation, on channel: Channel) throws(StoreError) -> Bool {
        let (tables, transaction) = (channel.tables, channel.transaction)
        let mark = transaction.mark
        try tables.setSavepoint()
        do { try operation.run(transaction) } catch {
            if tables.connection.end != nil { throw error as? StoreError ?? .unreachable }
            if let met = error as? StoreError, met == .contended { throw met }
            transaction.restore(mark, after: error)
            try tables.rollBackToSavepoint()
        }
        return true
    }

    /// Runs one operation without looking back. False if what it, or one before it, has changed would have to be undone.
    private func tryOut(_ operation: any WriteOperation, on channel: Channel) -> Bool {
        let (tables, transaction) = (channel.tables, channel.transaction)
        let mark = transaction.mark
        let changes = tables.recordedCount
        do { try operation.run(transaction) } catch {
            guard tables.connection.isUnharmed, tables.recordedCount == changes else { return false }
            transaction.restore(mark, after: error)
        }
        return true
    }

    private func finish(_ channel: Channel, isCareful: Bool) -> Attempt {
        switch channel.tables.commit() {
        case .durable:
            note(channel)
            return .done(nil)
        case .undone(let error):
            channel.tables.rollBack()
            if channel.tables.connection.end != nil { self.channel = nil }
            return isCareful || channel.tables.connection.end != nil ? .done(error) : .carefully
        case .unknown(let error):
            self.channel = nil
            memory.doubtful = record(channel)
            return .done(settle(channel, error))
        }
    }

    private func note(_ channel: Channel) {
        memory.doubtful = nil
        memory.add(record(channel))
        watch.acknowledge(channel.tables.turn, channel.transaction.head, in: channel.tables.connection.history)
        channel.transaction.committed()
        committedHead = channel.transaction.committedHead
        incarnation = context.incarnation
    }

    private func currentChannel() throws(StoreError) -> Channel {
        if let channel { return channel }
        let made = try makeChannel()
        channel = made
        return made
    }

    private func makeChannel() throws(StoreError) -> Channel {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        try watch.refuseFormer(connection.history)
        let tables = ServerTables(connection, address, peers)
        return Channel(
            tables: tables, transaction: try WriteTransaction(tables, context, committedHead: committedHead),
            session: try ServerSession(of: connection))
    }

    // MARK: A failover

    private func record(_ channel: Channel) -> CommitMemory.Transaction {
        CommitMemory.Transaction(
            number: channel.tables.turn, before: channel.transaction.headAtBegin, after: channel.transaction.head,
            changes: channel.tables.takeRecord())
    }

    private static let settlingPause: UInt32 = 100_000

    /// Takes part in finding out what a failover has lost. Nothing is changed in the vault before that is over.
    private func settleFailover(_ channel: Channel) throws(StoreError) {
        let start = SuspendingClock.now
        // Several failovers may follow on one another.
        let begin = unsettledSince ?? start
        unsettledSince = begin
        let settlement = FailoverSettlement(
            tables: channel.tables, context: context, memory: memory, watch: watch, owner: peers.own)
        let known = FailoverSettlement.Knowledge(head: committedHead, incarnation: incarnation)
        while true {
            let hasWaited =
                begin.duration(to: .now) > patience.withWriters
                && start.duration(to: .now) > patience.withWriters / 3
            do throws(StoreError) {
                let hasWaitedForReaders = begin.duration(to: .now) > patience.withReaders
                switch try settlement.step(known, hasWaited: hasWaited, hasWaitedForReaders: hasWaitedForReaders) {
                case .waiting: CurrentThread.pause(microseconds: Self.settlingPause)
                case .settled(let transaction, let haveBeenLost):
                    unsettledSince = nil
                    if haveBeenLost {
                        committedHead = nil
                        context.forgetSeen()
                    }
                    committedHead = transaction.committedHead ?? committedHead
                    watch.head = committedHead
                    incarnation = context.incarnation
                    self.channel = Channel(
                        tables: channel.tables, transaction: transaction, session: channel.session)
                    return
                }
            } catch {
                if channel.tables.connection.end != nil { self.channel = nil }
                guard error == .contended, !hasWaited else { throw error }
            }
        }
    }

    // MARK: A commit of which nothing is known

    /// How long is waited, in microseconds, before it is asked what became of a commit.
    private static let settlingPauses: [UInt32] = [0, 250_000, 500_000, 1_000_000, 2_000_000]

    /// Finds out what became of a commit whose answer never came, and writes that down; nil if it is in the vault.
    ///
    /// While a commit waits for a standby, only those who wait for its locks learn of it: so its turn is taken first, and then
    /// its link is looked for. The commit that records this is behind it in the server's log: once a standby has that one,
    /// it has both.
    private func settle(_ lost: Channel, _ error: StoreError) -> StoreError? {
        let head = lost.transaction.head
        let hasLink = head != lost.transaction.headAtBegin
        lost.tables.connection.close()
        for pause in Self.settlingPauses {
            CurrentThread.pause(microseconds: pause)
            do throws(StoreError) {
                let channel = try makeChannel()
                do throws(StoreError) {
                    try begin(channel)
                } catch {
                    channel.tables.rollBack()
                    if error == .unsettled { try settleFailover(channel) }
                    // The lost session may wait for ever, for a standby or for this machine. To end it settles its commit.
                    if error == .contended { try lost.session.end(by: channel.tables.connection) }
                    throw error
                }
                let isThere = hasLink ? try channel.transaction.holds(head) : false
                try channel.transaction.audit(Self.event(isThere), about: AuditSubject())
                guard case .durable = channel.tables.commit() else { throw StoreError.unreachable }
                if isThere { memory.keepDoubtful() }
                note(channel)
                self.channel = channel
                return isThere ? nil : error
            } catch {
                continue
            }
        }
        return error
    }

    private static func event(_ isThere: Bool) -> AuditEvent {
        AuditEvent(.commitSettled, [AuditEvent.Detail("outcome", isThere ? "durable" : "undone")])
    }
}
