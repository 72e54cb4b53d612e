import CSQLite
import VaultCrypto

/// One prepared statement. Parameters count from 1, columns from 0, as in SQLite.
@safe final class Statement {
    let handle: OpaquePointer
    private let connection: OpaquePointer
    private let liveness: Liveness?
    /// A bit for each parameter that did not take what it was given: SQLite leaves such a one as it was, and would run
    /// the statement with it.
    private var refusedParameters: UInt64 = 0

    init(_ connection: Connection, _ sql: String, isPersistent: Bool = false) throws(StoreError) {
        unsafe self.connection = connection.handle
        liveness = connection.liveness
        var prepared: OpaquePointer?
        let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = unsafe sqlite3_prepare_v3(connection.handle, sql, -1, flags, &prepared, nil)
        guard code == SQLITE_OK, let statement = unsafe prepared else { throw connection.error(code) }
        unsafe handle = statement
    }

    deinit {
        // See ``Connection/isAbandoned``.
        if liveness?.isLost ?? ForkGuard.isForked { return }
        unsafe sqlite3_finalize(handle)
    }

    /// Whether there is a row.
    func step() throws(StoreError) -> Bool {
        guard refusedParameters == 0 else { throw StoreError(.invalidValue, "a value is too long for the vault") }
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            throw StoreError(sqlite: code, systemError: unsafe sqlite3_system_errno(connection))
        }
    }

    /// Ends the read that the statement holds open.
    func reset() {
        unsafe sqlite3_reset(handle)
    }

    /// Runs a statement that gives no rows, and makes it ready for the next time.
    func run() throws(StoreError) {
        defer { reset() }
        while try step() {}
    }

    // MARK: Parameters

    // What cannot be bound is an error of the next step: so no statement runs with anything but what it was given.

    func bind(_ index: Int32, _ value: Int64) {
        note(index, unsafe sqlite3_bind_int64(handle, index, value))
    }

    func bindNull(_ index: Int32) {
        note(index, unsafe sqlite3_bind_null(handle, index))
    }

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    func bind(_ index: Int32, _ value: Bytes16) {
        unsafe value.withUnsafeBytes { unsafe bindCopy(index, $0) }
    }

    func bind(_ index: Int32, _ value: Bytes16?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    func bind(_ index: Int32, _ value: [UInt8]) {
        unsafe value.withUnsafeBytes { unsafe bindCopy(index, $0) }
    }

    func bind(_ index: Int32, _ value: [UInt8]?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    func bind(_ index: Int32, _ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            guard let count = Int32(exactly: utf8.count) else { return note(index, SQLITE_TOOBIG) }
            unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                note(index, unsafe vault_bind_text_copy(handle, index, text.baseAddress, count))
            }
        }
    }

    private func bindCopy(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
        guard let count = Int32(exactly: bytes.count) else { return note(index, SQLITE_TOOBIG) }
        if count == 0 {
            note(index, unsafe vault_bind_empty_blob(handle, index))
        } else {
            note(index, unsafe vault_bind_blob_copy(handle, index, bytes.baseAddress, count))
        }
    }

    private func note(_ index: Int32, _ code: Int32) {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: index)
        if code == SQLITE_OK { refusedParameters &= ~bit } else { refusedParameters |= bit }
    }

    /// Binds without a copy, for as long as `body` runs.
    func withBinding<R>(
        _ index: Int32, _ value: Bytes16, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let value = value
        let result: Result<R, StoreError> = unsafe value.withUnsafeBytes { bytes in
            note(index, unsafe sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil))
            defer {
                reset()
                bindNull(index)
            }
            do throws(StoreError) { return .success(try body()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    // MARK: Columns

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// Points into SQLite's memory: valid until the next step or reset.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return unsafe .init(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func bytes(_ column: Int32) -> [UInt8] { unsafe [UInt8](blob(column)) }

    func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    /// `nil` if the column does not hold 16 bytes.
    func bytes16(_ column: Int32) -> Bytes16? { unsafe Bytes16(blob(column)) }

    func text(_ column: Int32) -> String {
        guard let text = unsafe sqlite3_column_text(handle, column) else { return "" }
        let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
