import CSQLite
import Platform
import VaultCrypto
import VaultStorage

/// One prepared statement. Parameters count from 1, columns from 0, as in SQLite.
@safe final class Statement: RowCursor {
    let handle: OpaquePointer
    private let connection: OpaquePointer
    private let liveness: Liveness?
    /// A bit for each parameter whose value was refused: SQLite leaves such a parameter unchanged and would run the
    /// statement with it.
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

    func step() throws(StoreError) -> Bool {
        guard refusedParameters == 0 else { throw StoreError(.invalidValue, "a value is too long for the vault") }
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            throw StoreError(sqlite: code, systemError: unsafe sqlite3_system_errno(connection))
        }
    }

    func reset() {
        unsafe sqlite3_reset(handle)
    }

    // MARK: Parameters

    func bind(_ parameter: Int32, _ value: Int64) {
        note(parameter, unsafe sqlite3_bind_int64(handle, parameter, value))
    }

    func bindNull(_ parameter: Int32) {
        note(parameter, unsafe sqlite3_bind_null(handle, parameter))
    }

    func bind(_ parameter: Int32, _ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            guard let count = Int32(exactly: utf8.count) else { return note(parameter, SQLITE_TOOBIG) }
            unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                note(parameter, unsafe vault_bind_text_copy(handle, parameter, text.baseAddress, count))
            }
        }
    }

    func bind(_ parameter: Int32, copying bytes: UnsafeRawBufferPointer) {
        guard let count = Int32(exactly: bytes.count) else { return note(parameter, SQLITE_TOOBIG) }
        if count == 0 {
            note(parameter, unsafe vault_bind_empty_blob(handle, parameter))
        } else {
            note(parameter, unsafe vault_bind_blob_copy(handle, parameter, bytes.baseAddress, count))
        }
    }

    func bind(_ parameter: Int32, borrowing bytes: UnsafeRawBufferPointer) {
        guard let count = Int32(exactly: bytes.count) else { return note(parameter, SQLITE_TOOBIG) }
        note(parameter, unsafe sqlite3_bind_blob(handle, parameter, bytes.baseAddress, count, nil))
    }

    private func note(_ parameter: Int32, _ code: Int32) {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: parameter)
        if code == SQLITE_OK { refusedParameters &= ~bit } else { refusedParameters |= bit }
    }

    // MARK: Columns

    var columnCount: Int { Int(unsafe sqlite3_column_count(handle)) }

    enum StorageClass {
        case null, integer, blob, other
    }

    func storageClass(_ column: Int32) -> StorageClass {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer
        case SQLITE_BLOB: .blob
        default: .other
        }
    }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return unsafe .init(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func hasText(_ column: Int32, _ expected: [UInt8]) -> Bool {
        guard let text = unsafe sqlite3_column_text(handle, column) else { return false }
        guard unsafe Int(sqlite3_column_bytes(handle, column)) == expected.count else { return false }
        return unsafe expected.withUnsafeBytes { expected in
            guard let start = expected.baseAddress else { return true }
            return unsafe ByteComparison.areEqual(start, text, expected.count)
        }
    }

    func text(_ column: Int32) -> String {
        guard let text = unsafe sqlite3_column_text(handle, column) else { return "" }
        let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
