import Synchronization
import VaultStorage

/// A read-only connection and its reader. Used by one thread at a time.
struct OpenReader: @unchecked Sendable {
    let connection: Connection
    let reader: Reader
    let caching: CachedReading?

    /// - Parameter opened: a connection to the vault, which this reader takes over.
    init(
        _ database: Database, _ context: VaultContext, _ opened: Connection? = nil, cache: RowCache? = nil
    ) throws(StoreError) {
        connection = if let opened { opened } else { try database.connect() }
        try connection.configure(isReader: true)
        caching = if let cache { CachedReading(connection, cache) } else { nil }
        connection.cursors = caching
        reader = try Reader(connection, context)
    }
}

/// Connections for reading directly on the calling thread. The pool grows to the number of concurrent readers.
final class ReaderPool: Sendable {
    /// Connections beyond this number are closed when they are returned.
    private static let kept = 8

    private struct State {
        var idle: [OpenReader] = []
        var isClosed = false
        var checkpointsWhenLast = false
    }

    private let database: Database
    private let context: VaultContext
    private let place: VaultFileIdentity
    let cache: RowCache?
    private let state: Mutex<State>

    init(
        _ database: Database, _ context: VaultContext, _ place: VaultFileIdentity, _ cache: RowCache?, first: OpenReader
    ) {
        self.database = database
        self.context = context
        self.place = place
        self.cache = cache
        state = Mutex(State(idle: [first]))
    }

    @inline(__always)
    func read<R>(_ body: (Reader) throws(StoreError) -> R) throws(StoreError) -> R {
        let open = try take()
        defer { giveBack(open) }
        open.caching?.hasServed = false
        do throws(StoreError) { return try open.reader.readNewest(body) } catch {
            guard let caching = open.caching, caching.hasServed, error.mayBeOfStoredRows else {
                throw explain(error)
            }
            caching.cache.removeAll()
            caching.isOff = true
            defer { caching.isOff = false }
            do throws(StoreError) { return try open.reader.readNewest(body) } catch { throw explain(error) }
        }
    }

    /// Reads on a connection of its own, so that those of the pool stay free for others.
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

    /// Refuses a vault or WAL that has been replaced meanwhile, and a newer schema.
    private func makeReader() throws(StoreError) -> OpenReader {
        guard database.access.isWritable else { return try OpenReader(database, context) }
        let reader: OpenReader
        do throws(StoreError) { reader = try OpenReader(database, context, cache: cache) } catch {
            // Apparent damage may be another file.
            try place.checkNames()
            throw error
        }
        try VaultSchema.checkIsUnchanged(reader.connection)
        try place.checkFiles(reader.connection)
        return reader
    }

    private func giveBack(_ reader: OpenReader) {
        let checkpointsWhenLast = state.withLock { state in
            if !state.isClosed, state.idle.count < Self.kept { state.idle.append(reader) }
            return state.checkpointsWhenLast
        }
        if checkpointsWhenLast { reader.connection.checkpointsWhenLast() }
    }

    /// For connections that are still in use when the pool closes.
    var checkpointsWhenLast: Bool { state.withLock { $0.checkpointsWhenLast } }

    /// - Parameter checkpointing: see ``Connection/checkpointsWhenLast()``.
    func close(checkpointing: Bool) {
        let idle = state.withLock { state in
            state.isClosed = true
            state.checkpointsWhenLast = checkpointing
            defer { state.idle = [] }
            return state.idle
        }
        cache?.close()
        for reader in idle { reader.connection.close(checkpointing: checkpointing) }
    }
}

extension StoreError {
    /// Whether the database may know better: not if it only says what the user's logins are.
    fileprivate var mayBeOfStoredRows: Bool {
        switch code {
        case .notFound, .ambiguousLogin, .closed: false
        default: true
        }
    }
}
