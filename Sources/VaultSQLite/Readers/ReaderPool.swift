import Synchronization
import VaultStorage

/// A connection that only reads, with what reads by it. Used by one thread at a time.
struct OpenReader: @unchecked Sendable {
    let connection: Connection
    let reader: Reader

    /// - Parameter opened: a connection to the vault, to be taken over.
    init(_ database: Database, _ context: VaultContext, _ opened: Connection? = nil) throws(StoreError) {
        connection = if let opened { opened } else { try database.connect() }
        try connection.configure(isReader: true)
        reader = try Reader(connection, context)
    }
}

/// Connections for reading, straight on the calling thread. It grows to as many as read at the same time.
final class ReaderPool: Sendable {
    /// More than these are closed when they are given back.
    private static let kept = 8

    private struct State {
        var idle: [OpenReader] = []
        var isClosed = false
        var checkpointsWhenLast = false
    }

    private let database: Database
    private let context: VaultContext
    private let place: VaultFileIdentity
    private let state: Mutex<State>

    init(_ database: Database, _ context: VaultContext, _ place: VaultFileIdentity, first: OpenReader) {
        self.database = database
        self.context = context
        self.place = place
        state = Mutex(State(idle: [first]))
    }

    @inline(__always)
    func read<R>(_ body: (Reader) throws(StoreError) -> R) throws(StoreError) -> R {
        let open = try take()
        defer { giveBack(open) }
        do throws(StoreError) { return try open.reader.readNewest(body) } catch { throw explain(error) }
    }

    /// The same on a connection that only this reading has: those of the pool stay free for others.
    func survey<R>(_ body: (Reader) throws -> R) throws -> R {
        try requireOpen()
        let open = try OpenReader(database, context)
        defer { open.connection.close(checkpointing: checkpointsWhenLast) }
        if database.access.isWritable { try place.checkDatabase() }
        do { return try open.reader.readNewest(body) } catch let error as StoreError { throw explain(error) }
    }

    private func explain(_ error: StoreError) -> StoreError { database.explain(place.explain(error)) }

    private func requireOpen() throws(StoreError) {
        try database.liveness.check()
        if state.withLock({ $0.isClosed }) { throw .closed }
    }

    @inline(__always)
    private func take() throws(StoreError) -> OpenReader {
        try database.liveness.check()
        let idle = try state.withLock { state throws(StoreError) -> OpenReader? in
            if state.isClosed { throw .closed }
            return state.idle.popLast()
        }
        return if let idle { idle } else { try makeReader() }
    }

    /// What has taken the place of the vault or of its WAL meanwhile is not read beside it, nor is a newer schema.
    private func makeReader() throws(StoreError) -> OpenReader {
        guard database.access.isWritable else { return try OpenReader(database, context) }
        let reader: OpenReader
        do throws(StoreError) { reader = try OpenReader(database, context) } catch {
            // What looks like damage may be another file.
            try place.checkNames()
            throw error
        }
        try VaultSchema.checkIsUnchanged(reader.connection)
        try place.checkFiles(reader.connection)
        return reader
    }

    private func giveBack(_ reader: OpenReader) {
        state.withLock { state in
            if !state.isClosed, state.idle.count < Self.kept { state.idle.append(reader) }
        }
        if checkpointsWhenLast { reader.connection.checkpointsWhenLast() }
    }

    /// For connections that are still in use when the pool is closed.
    var checkpointsWhenLast: Bool { state.withLock { $0.checkpointsWhenLast } }

    /// - Parameter checkpointing: see ``Connection/checkpointsWhenLast()``.
    func close(checkpointing: Bool) {
        let idle = state.withLock { state in
            state.isClosed = true
            state.checkpointsWhenLast = checkpointing
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { reader.connection.close(checkpointing: checkpointing) }
    }
}
