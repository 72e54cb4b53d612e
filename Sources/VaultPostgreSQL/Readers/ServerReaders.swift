import Platform
import Synchronization
import VaultStorage

/// Connections for reading. One that has met a network error is discarded.
final class ServerReaders: Sendable {
    /// The maximum number of connections at once.
    static let limit = 4

    private struct State {
        var idle: [OpenReader] = []
        /// Including those in use.
        var count: Int
        /// Threads that wait for a connection.
        var waiting = 0
        var isClosed = false
        var timeout = ReadTimeout()
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

    /// Reads the result of one query, if the server answers it within a moment. Changing threads and back costs more
    /// than that, and where the server is further away, attempts soon become rare.
    ///
    /// - Returns: nil if no answer came, or if the body made more queries. Then it has to run on a thread that may
    ///   wait.
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
        state.withLock { $0.timeout.note(time) }
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
                state.timeout.isWorthTrying()
            else { return nil }
            return state.idle.removeLast()
        }
    }

    /// Whether it reads from the server that this process works on: after a failover the former primary may still
    /// answer.
    private func isCurrent(_ open: OpenReader) -> Bool {
        guard let history = watch.history else { return true }
        return open.tables.connection.history == history
    }

    // MARK: On a thread that may wait

    /// Reads on the calling thread, which waits for the server.
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
        // The server may have restarted since the connection was last used: a new connection shows that.
        let fresh = try make()
        defer { giveBack(fresh) }
        return try fresh.reader.readNewest(body)
    }

    /// Reads on a connection of its own, for reads that may take long.
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
                // It may still be due an answer that came too late for its reader.
                if !open.tables.connection.isSettled { try? open.tables.connection.sync() }
                return open
            case .free: return try make()
            // Never for long: a thread that holds a connection does not wait for another thread.
            case .none: freed.wait()
            }
        }
    }

    /// Makes a reader in a slot that is already reserved.
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
