import Platform
import Synchronization
import VaultStorage

/// Connections for reading. One that has met an error of the network is given up.
final class ServerReaders: Sendable {
    /// How many there are at once.
    static let limit = 4

    private struct State {
        var idle: [OpenReader] = []
        /// Those in use too.
        var count: Int
        /// Threads that wait for one.
        var waiting = 0
        var isClosed = false
        var patience = ReadTimeout()
    }

    private let address: ServerAddress
    private let context: VaultContext
    private let peers: PeerLiveness
    private let watch: TimelineTracker
    private let state: Mutex<State>
    private let freed = ThreadSignal()

    init(
        _ address: ServerAddress, _ context: VaultContext, _ peers: PeerLiveness, _ watch: TimelineTracker,
        first: OpenReader
    ) {
        self.address = address
        self.context = context
        self.peers = peers
        self.watch = watch
        state = Mutex(State(idle: [first], count: 1))
    }

    // MARK: On a thread that must not wait

    /// Reads what one question brings, if the server answers it within a moment. To change threads and back costs more than
    /// that, and where the server is further away nothing is tried for long.
    ///
    /// - Returns: nil if it did not, or if the body asked more. Then it has to run on a thread that may wait.
    func readAtOnce<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        var questions: [BoundQuery] = []
        prefetchHint.addQuestions(to: &questions, context)
        guard !questions.isEmpty, let open = takeIdle() else { return nil }
        defer { giveBack(open) }
        let start = SuspendingClock.now
        let isAnswered = open.tables.askBriefly(questions)
        let time = isAnswered ? start.duration(to: .now) : nil
        state.withLock { $0.patience.note(time) }
        guard isAnswered else { return nil }
        open.tables.beginAtOnce()
        let result: R
        do throws(StoreError) { result = try open.reader.readNewest(body) } catch {
            if open.tables.endAtOnce() { throw error }
            return nil
        }
        return open.tables.endAtOnce() ? result : nil
    }

    private func takeIdle() -> OpenReader? {
        state.withLock { state in
            guard !state.isClosed, let last = state.idle.last, last.tables.connection.isSettled, isCurrent(last),
                state.patience.isWorthTrying()
            else { return nil }
            return state.idle.removeLast()
        }
    }

    /// Whether it reads where this process works: after a failover the former primary may still answer.
    private func isCurrent(_ open: OpenReader) -> Bool {
        guard let history = watch.history else { return true }
        return open.tables.connection.history == history
    }

    // MARK: On a thread that may wait

    /// On the calling thread, which waits for the server.
    func read<R>(_ body: (Reader) throws(StoreError) -> R) throws(StoreError) -> R {
        let open = try take()
        do throws(StoreError) {
            let result = try open.reader.readNewest(body)
            giveBack(open)
            return result
        } catch {
            guard open.tables.connection.end != nil else {
                giveBack(open)
                throw error
            }
        }
        // The server may have been started anew since the connection was last used: a new one tells.
        let fresh = try make()
        defer { giveBack(fresh) }
        return try fresh.reader.readNewest(body)
    }

    /// By a connection of its own, for what may take long.
    func survey<R>(_ body: (Reader) throws -> R) throws -> R {
        try requireOpen()
        let open = try OpenReader(address, context, peers, watch, isSurvey: true)
        defer { open.tables.connection.close() }
        return try open.reader.readNewest(body)
    }

    func requireOpen() throws(StoreError) {
        if ForkGuard.isForked { throw .ownershipLost }
        if state.withLock({ $0.isClosed }) { throw .closed }
    }

    private enum Place {
        case idle(OpenReader)
        case free
        case none
    }

    private func take() throws(StoreError) -> OpenReader {
        while true {
            try requireOpen()
            let place = state.withLock { state -> Place in
                if let idle = state.idle.popLast() { return .idle(idle) }
                if state.count < Self.limit {
                    state.count += 1
                    return .free
                }
                state.waiting += 1
                return .none
            }
            switch place {
            case .idle(let open) where !isCurrent(open):
                open.tables.connection.close()
                return try make()
            case .idle(let open):
                // It may still owe an answer that came too late for its reader.
                if !open.tables.connection.isSettled { try? open.tables.connection.sync() }
                return open
            case .free: return try make()
            // Never for long: who has one does not wait for a thread.
            case .none: freed.wait()
            }
        }
    }

    /// In a place that is taken already.
    private func make() throws(StoreError) -> OpenReader {
        do throws(StoreError) { return try OpenReader(address, context, peers, watch) } catch {
            leave { $0.count -= 1 }
            throw error
        }
    }

    private func giveBack(_ open: OpenReader) {
        open.tables.rollBack()
        open.tables.dropPrefetched()
        leave { state in
            if open.tables.connection.end != nil || state.isClosed {
                open.tables.connection.close()
                state.count -= 1
            } else {
                state.idle.append(open)
            }
        }
    }

    private func leave(_ change: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            change(&state)
            guard state.waiting > 0 else { return false }
            state.waiting -= 1
            return true
        }
        if isAwaited { freed.send() }
    }

    func close() {
        let (idle, waiting) = state.withLock { state in
            state.isClosed = true
            defer { (state.idle, state.waiting) = ([], 0) }
            return (state.idle, state.waiting)
        }
        for open in idle { open.tables.connection.close() }
        for _ in 0..<waiting { freed.send() }
    }
}
