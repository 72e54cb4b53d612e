import Platform
import CSQLite
import VaultCrypto
import VaultStorage

/// One connection to a vault file. Used by one thread at a time.
@safe final class Connection: @unchecked Sendable {
    let handle: OpaquePointer
    let path: String
    let access: Access
    let liveness: Liveness?
    /// The application id that the file's header must have; see ``BackupContainer/applicationID``.
    var applicationID = Connection.applicationID
    /// The processes that may have begun something in the vault; nil if they are not known yet.
    var owners: (any Ownership)?
    /// Announces a long snapshot to all processes, until the returned object is released.
    var announceLongReading: @Sendable () -> AnyObject? = { nil }
    /// Asked for a cursor first. Set for the store's readers, if it keeps rows in memory.
    var cursors: (any CursorSource)?
    /// By the address of their SQL text.
    private var statements: [UInt: Statement] = [:]
    /// By query number.
    private var queries: [Statement?] = []
    private var isClosed = false
    /// The number of transactions before a cache that was enlarged for many changes shrinks again; 0: it is small.
    private var bigCacheLeft = 0
    /// Whether a transaction writes nothing to the log before its commit.
    private(set) var spillsNothing = false

    enum Access {
        case readWrite
        /// Nothing can be written: SQLite uses the existing log and shared memory.
        case readOnly
        /// The database file alone, which is known not to change.
        case immutable
        /// A vault in memory, to derive the schema that a vault must have.
        case memory
    }

    /// - Parameter path: without symbolic links; SQLite refuses the file if there is one.
    /// - Parameter liveness: of the store that the connection belongs to.
    init(path: String, access: Access = .readWrite, liveness: Liveness? = nil) throws(StoreError) {
        self.liveness = liveness
        self.path = path
        self.access = access
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(access.name(of: path), &opened, access.flags, nil)
        guard code == SQLITE_OK, let connection = unsafe opened else {
            let systemError = unsafe opened.map { unsafe sqlite3_system_errno($0) } ?? 0
            unsafe sqlite3_close_v2(opened)
            throw StoreError(sqlite: code, systemError: systemError)
        }
        unsafe handle = connection
    }

    deinit { close() }

    /// The connection must not be used afterwards.
    /// - Parameter checkpointing: see ``checkpointsWhenLast()``.
    func close(checkpointing: Bool = false) {
        cursors = nil
        statements = [:]
        queries = []
        if isClosed || isAbandoned { return }
        isClosed = true
        if checkpointing { checkpointsWhenLast() }
        unsafe sqlite3_close_v2(handle)
    }

    /// Whether the connection must not be touched, not even to close it: its descriptors' numbers may refer to other
    /// files by now, and in a fork its locks are the parent's.
    var isAbandoned: Bool { liveness?.isLost ?? ForkGuard.isForked }

    /// Runs SQL and ignores its rows, if any.
    func execute(_ sql: String) throws(StoreError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// The prepared statement of this text, prepared once per connection.
    func statement(_ sql: StaticString) throws(StoreError) -> Statement {
        let key = UInt(bitPattern: unsafe sql.utf8Start)
        if let cached = statements[key] { return cached }
        let prepared = try prepare(sql.description)
        statements[key] = prepared
        return prepared
    }

    func statement(_ query: Query) throws(StoreError) -> Statement {
        let number = query.number
        if number < queries.count, let cached = queries[number] { return cached }
        let prepared = try prepare(query.sql)
        if number >= queries.count { queries += [Statement?](repeating: nil, count: number - queries.count + 1) }
        queries[number] = prepared
        return prepared
    }

    func prepare(_ sql: String) throws(StoreError) -> Statement {
        try Statement(self, sql, isPersistent: true)
    }

    /// The statement's single integer.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try Statement(self, sql)
        guard try statement.step() else { throw StoreError(.damaged, "a query on the vault returned no row") }
        return statement.integer(0)
    }

    /// The statement's single text.
    func text(_ sql: String) throws(StoreError) -> String {
        let statement = try Statement(self, sql)
        guard try statement.step() else { throw StoreError(.damaged, "a query on the vault returned no row") }
        return statement.text(0)
    }

    /// The bytes of a file with this in-memory database, in the mode that every vault has: WAL.
    func withImage(_ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
        var count: sqlite3_int64 = 0
        guard let image = unsafe sqlite3_serialize(handle, "main", &count, 0), count >= 100 else {
            throw StoreError(.outOfMemory, "there is not enough memory")
        }
        defer { unsafe sqlite3_free(image) }
        // The read and the write version of the file format (https://sqlite.org/fileformat.html §1.3.3).
        unsafe image[18] = 2
        unsafe image[19] = 2
        try unsafe body(UnsafeRawBufferPointer(start: image, count: Int(count)))
    }

    /// Rows that were changed since the connection was opened.
    var totalChanges: Int { Int(unsafe sqlite3_total_changes(handle)) }

    /// Whether no transaction is open. SQLite rolls back on its own after some errors.
    var isOutsideTransaction: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }

    /// Whether no transaction is open, and no query under way holds a snapshot.
    var hasNoSnapshot: Bool {
        unsafe sqlite3_get_autocommit(handle) != 0 && sqlite3_txn_state(handle, "main") == SQLITE_TXN_NONE
    }

    /// As long as pages that change in random order fit into the cache, each is written to the log once. With SQLite's
    /// 2 MiB, an import's batch is written and read several times over. The log also keeps its file at the size that it
    /// reaches between two checkpoints, because writing a truncated part again costs as much as before.
    func enlargeCache() throws(StoreError) {
        let wasSmall = !hasBigCache
        if wasSmall { try execute("PRAGMA cache_size = -\(Self.bigCacheKiB)") }
        bigCacheLeft = Self.transactionsWithBigCache
        if wasSmall { try keepLogFile() }
    }

    /// Whether the last transactions changed many rows.
    var hasBigCache: Bool { bigCacheLeft > 0 }

    /// Call before each transaction. From the second batch on, nothing goes to the log before the commit, because the
    /// log may be copied meanwhile: see ``CheckpointGate/copyingBeside(_:)``. A batch that does not fit then takes more
    /// memory.
    func reduceCacheIfIdle() throws(StoreError) {
        guard bigCacheLeft > 0 else { return }
        bigCacheLeft -= 1
        // SQLite applies this only outside of transactions.
        if hasBigCache != spillsNothing {
            try execute("PRAGMA cache_spill = \(hasBigCache ? "OFF" : "ON")")
            spillsNothing = hasBigCache
        }
        guard bigCacheLeft == 0 else { return }
        try execute("PRAGMA cache_size = -\(Self.cacheKiB)")
        try keepLogFile()
        unsafe _ = sqlite3_db_release_memory(handle)
    }

    /// Sets the size to which a WAL that restarts truncates its file.
    func keepLogFile() throws(StoreError) {
        let limit = hasBigCache ? Self.journalSizeLimitOfBatches : Self.journalSizeLimit
        try execute("PRAGMA journal_size_limit = \(limit)")
    }

    /// SQLite's own default.
    private static let cacheKiB = 2_000
    private static let bigCacheKiB = 20_480
    private static let transactionsWithBigCache = 16

    /// SQLite's extended code of the last failure.
    var lastCode: Int32 { unsafe sqlite3_extended_errcode(handle) }

    /// The WAL's minimum length, according to its index.
    func walByteCount() throws(StoreError) -> Int64 {
        var frames: UInt32 = 0
        var pageSize: UInt32 = 0
        let code = unsafe vault_wal_frames(handle, &frames, &pageSize)
        guard code == SQLITE_OK else { throw error(code) }
        return frames == 0 ? 0 : 32 + Int64(frames) * (24 + Int64(pageSize))
    }

    /// Whether no other connection of any process has the database open at this moment. Call it outside a transaction,
    /// on a connection that has read.
    func isAlone() throws(StoreError) -> Bool {
        switch unsafe vault_is_alone(handle) {
        case SQLITE_OK: return true
        case let code where code & 0xff == SQLITE_BUSY: return false
        case let code: throw error(code)
        }
    }

    func error(_ code: Int32) -> StoreError {
        StoreError(sqlite: code, systemError: unsafe sqlite3_system_errno(handle))
    }
}

/// Has cursors of its own for some queries.
protocol CursorSource: AnyObject {
    /// Nil: the query's own statement is used.
    func cursor(_ query: Query) throws(StoreError) -> (any RowCursor)?
    /// See ``TableAccess/markOfSettings()``.
    func markOfSettings() throws(StoreError) -> Int64?
}

extension Connection.Access {
    /// Whether the connection may change the file.
    var isWritable: Bool { self == .readWrite || self == .memory }

    fileprivate var flags: Int32 {
        let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        return switch self {
        case .readWrite: common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW
        case .readOnly: common | SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW
        case .immutable: common | SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI
        case .memory: common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_CREATE
        }
    }

    fileprivate func name(of path: String) -> String {
        guard self == .immutable else { return path }
        let escaped = path.utf8.reduce(into: "") { text, byte in
            let isPlain = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
            text += isPlain ? String(UnicodeScalar(byte)) : "%" + Self.hexadecimal(byte)
        }
        return "file:\(escaped)?immutable=1"
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}
