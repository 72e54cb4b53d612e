import Platform
import VaultStorage

/// Runs operations in one server transaction. Each transaction that changes the vault takes the vault's lock first, so
/// nothing changes underneath it, and no two conflict.
final class ServerWriteBatch: WriteBatching {
    /// The maximum number of attempts of a batch that met others' locks, or lost its connection before the commit.
    private static let tries = 3

    private let address: ServerAddress
    private let context: VaultContext
    private let peers: PeerLiveness
    private let watch: TimelineTracker
    private let timeouts: FailoverTimeouts
    private let memory = CommitMemory()
    private var channel: Channel?
    private var committedHead: WriteTransaction.AuditHead?
    /// Since when this process has met unsettled timelines.
    private var unsettledSince: SuspendingClock.Instant?
    /// The vault's incarnation at the last committed change.
    private var incarnation: Int64

    /// A connection with the writer's objects that use it.
    private struct Channel {
        let tables: ServerTables
        let transaction: WriteTransaction
        let session: ServerSession
    }

    /// - Parameter known: the knowledge that an earlier process of this machine has left.
    init(
        _ address: ServerAddress, _ context: VaultContext, _ peers: PeerLiveness, _ watch: TimelineTracker = .init(),
        timeouts: FailoverTimeouts = .init(), known: FailoverSettlement.Knowledge? = nil
    ) {
        self.address = address
        self.context = context
        self.peers = peers
        self.watch = watch
        self.timeouts = timeouts
        committedHead = known?.head
        incarnation = known?.incarnation ?? context.incarnation
    }

    func perform(_ operations: [any WriteOperation], committed: (_ dueFrom: Timestamp) -> Void) {
        let failure = commit(operations)
        committed(channel?.transaction.dueFrom ?? .earliest)
        for operation in operations { operation.finish(failure) }
    }

    /// A server is always waited for.
    func performAtOnce(_ operation: any WriteOperation, committed: (_ dueFrom: Timestamp) -> Void) -> Bool { false }

    /// The number of waits for answers on the current connection.
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
        /// Nothing was changed, and a retry may succeed.
        case again(StoreError)
        /// Nothing was changed. Something failed, and a careful attempt must find out what.
        case carefully
    }

    /// - Parameter isCareful: whether each operation has a savepoint and is waited for. Operations rarely fail after a
    ///   change. So the first attempt does without, and a whole batch costs one round trip for each read.
    private func attempt(_ operations: [any WriteOperation], isCareful: Bool) -> Attempt {
        let channel: Channel
        do throws(StoreError) { channel = try currentChannel() } catch { return .done(error) }
        channel.tables.waitsForChanges = isCareful
        // A process that only checks takes no change number, which others would miss.
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
                // A row that the server cannot read must fail only the operation that needs it.
                return error.code == .busy ? .again(error) : isCareful ? .done(error) : .carefully
            }
            // The connection was lost, perhaps long ago, and with it everything that was not committed.
            self.channel = nil
            return .again(error)
        }
        return finish(channel, isCareful: isCareful)
    }

    /// Waits for the vault's lock.
    private func begin(
        _ channel: Channel, foreseeing operations: [any WriteOperation] = [], announces: Bool = true
    ) throws(StoreError) {
        let (tables, transaction) = (channel.tables, channel.transaction)
        var questions: [BoundQuery] = []
        let expectsOthers = !operations.isEmpty && transaction.hasLooked
        if expectsOthers { questions += transaction.looks }
        for operation in operations { operation.prefetchHint.addQuestions(to: &questions, context) }
        try tables.beginWriting(questions, expectsOthers: expectsOthers, announces: announces)
        if watch.history == nil { watch.settle(tables.connection.history, changes: tables.changeNumber - 1) }
        // Others have settled the failover, and this process has yet to check the outcome.
        guard watch.history == tables.connection.history else { throw .unsettled }
        // A change that is missing on an unchanged timeline was set back: all logins are held, as after a restore.
        guard tables.changeNumber > watch.knownChanges ?? 0 else { throw .unsettled }
        do throws(StoreError) { try transaction.begin() } catch {
            throw error.code == .rollbackSuspected ? .unsettled : error
        }
        incarnation = context.incarnation
    }

    /// Runs one operation. If it throws, its changes are undone, without effect on the other operations.
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

    /// Runs one operation without a savepoint. False if its changes, or earlier ones, would have to be undone.
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
        watch.acknowledge(channel.tables.changeNumber, channel.transaction.head, in: channel.tables.connection.history)
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
            number: channel.tables.changeNumber, before: channel.transaction.headAtBegin,
            after: channel.transaction.head,
            changes: channel.tables.takeRecord())
    }

    private static let settlingPause: UInt32 = 100_000

    /// Takes part in finding out what a failover has lost. The vault is not changed until that is over.
    private func settleFailover(_ channel: Channel) throws(StoreError) {
        let start = SuspendingClock.now
        // Several failovers may follow one another.
        let begin = unsettledSince ?? start
        unsettledSince = begin
        let settlement = FailoverSettlement(
            tables: channel.tables, context: context, memory: memory, watch: watch, owner: peers.own)
        let known = FailoverSettlement.Knowledge(head: committedHead, incarnation: incarnation)
        while true {
            let hasWaited =
                begin.duration(to: .now) > timeouts.withWriters
                && start.duration(to: .now) > timeouts.withWriters / 3
            do throws(StoreError) {
                let hasWaitedForReaders = begin.duration(to: .now) > timeouts.withReaders
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

    // MARK: A commit of unknown outcome

    /// The pauses, in microseconds, before each check of a commit's outcome.
    private static let settlingPauses: [UInt32] = [0, 250_000, 500_000, 1_000_000, 2_000_000]

    /// Finds out the outcome of a commit whose answer never came, and records it; nil if it is in the vault.
    ///
    /// While a commit waits for a standby, only waiters for its locks learn of it: so this takes the vault's lock
    /// first, and then looks for the commit's link. The commit that records this follows it in the server's log: once a
    /// standby has that one, it has both.
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
                    // The lost session may wait permanently for a standby or this machine. Ending it settles its commit.
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
