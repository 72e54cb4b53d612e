import Synchronization
import VaultStorage

/// A connection that only reads, with what reads by it. Used by one thread at a time.
struct OpenReader: @unchecked Sendable {
    let tables: ServerTables
    let reader: Reader

    init(
        _ address: ServerAddress, _ context: VaultContext, _ peers: PeerLiveness, _ watch: HistoryWatch,
        isSurvey: Bool = false
    ) throws(StoreError) {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address, isSurvey: isSurvey)
        try watch.require(connection.history)
        try self.init(ServerTables(connection, address, peers), context)
    }

    init(_ tables: ServerTables, _ context: VaultContext) throws(StoreError) {
        self.tables = tables
        reader = try Reader(tables, context)
    }
}

/// Connections for reading. One that has met an error of the network is given up.
final class ServerReaders: Sendable {
    private struct State {
        var idle: [OpenReader] = []
        var isClosed = false
    }

    private let address: ServerAddress
    private let context: VaultContext
    private let peers: PeerLiveness
    private let watch: HistoryWatch
    private let state: Mutex<State>

    init(
        _ address: ServerAddress, _ context: VaultContext, _ peers: PeerLiveness, _ watch: HistoryWatch,
        first: OpenReader
    ) {
        self.address = address
        self.context = context
        self.peers = peers
        self.watch = watch
        state = Mutex(State(idle: [first]))
    }

    /// On the calling thread, which waits for the server.
    func read<R>(_ body: (Reader) throws(StoreError) -> R) throws(StoreError) -> R {
        let open = try take()
        do throws(StoreError) {
            let result = try open.reader.readNewest(body)
            giveBack(open)
            return result
        } catch {
            let isLost = open.tables.connection.end != nil
            giveBack(open)
            // The server may have been started anew since the connection was last used: a new one tells.
            guard isLost else { throw error }
        }
        let fresh = try OpenReader(address, context, peers, watch)
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

    private func take() throws(StoreError) -> OpenReader {
        try requireOpen()
        if let idle = state.withLock({ $0.idle.popLast() }) { return idle }
        return try OpenReader(address, context, peers, watch)
    }

    private func giveBack(_ open: OpenReader) {
        open.tables.rollBack()
        let isKept =
            open.tables.connection.end == nil
            && state.withLock { state in
                if !state.isClosed { state.idle.append(open) }
                return !state.isClosed
            }
        if !isKept { open.tables.connection.close() }
    }

    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for open in idle { open.tables.connection.close() }
    }
}
