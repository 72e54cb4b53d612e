import CSQLite
import TestSupport

/// A vault file as an attacker sees it: a plain SQLite connection without any of the store's settings.
@safe final class RawDatabase {
    enum Value: Hashable, Sendable {
        case null
        case integer(Int64)
        case text([UInt8])
        case blob([UInt8])

        var count: Int {
            switch self {
            case .null, .integer: 0
            case .text(let bytes), .blob(let bytes): bytes.count
            }
        }
    }

    /// SQLite refused.
    struct Refusal: Error, CustomStringConvertible {
        let code: Int32
        let message: String

        var description: String { "\(message) (\(code))" }
    }

    private let handle: OpaquePointer
    /// Kept while the file in it is open.
    private let directory: PrivateDirectory?

    convenience init(of vault: VaultFixture) throws { try self.init(vault.path, in: vault.directory) }

    init(_ path: String, in directory: PrivateDirectory? = nil) throws {
        self.directory = directory
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw Refusal(code: code, message: "cannot open")
        }
        unsafe self.handle = handle
        unsafe sqlite3_busy_timeout(handle, 5000)
        try execute("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Runs one statement and gives its rows.
    @discardableResult
    func run(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
        var prepared: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(handle, sql, -1, &prepared, nil))
        defer { unsafe _ = sqlite3_finalize(prepared) }
        for (index, value) in values.enumerated() { try unsafe bind(prepared, Int32(index) + 1, value) }
        var rows: [[Value]] = []
        while true {
            let code = unsafe sqlite3_step(prepared)
            guard code == SQLITE_ROW else {
                guard code == SQLITE_DONE else { throw refusal(code) }
                return rows
            }
            let count = unsafe sqlite3_column_count(prepared)
            rows.append((0..<count).map { unsafe column(prepared, $0) })
        }
    }

    func integer(_ sql: String) throws -> Int64 {
        guard case .integer(let value)? = try run(sql).first?.first else {
            throw Refusal(code: 0, message: "no integer")
        }
        return value
    }

    var changes: Int { Int(unsafe sqlite3_changes(handle)) }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw refusal(code) }
    }

    private func refusal(_ code: Int32) -> Refusal {
        Refusal(code: code, message: unsafe String(cString: sqlite3_errmsg(handle)))
    }

    private func bind(_ statement: OpaquePointer?, _ index: Int32, _ value: Value) throws {
        switch value {
        case .null: try check(unsafe sqlite3_bind_null(statement, index))
        case .integer(let value): try check(unsafe sqlite3_bind_int64(statement, index, value))
        case .text(let bytes):
            let text = bytes.map { CChar(bitPattern: $0) }
            try check(unsafe vault_bind_text_copy(statement, index, text, Int32(bytes.count)))
        case .blob(let bytes):
            if bytes.isEmpty {
                try check(unsafe vault_bind_empty_blob(statement, index))
            } else {
                try check(unsafe vault_bind_blob_copy(statement, index, bytes, Int32(bytes.count)))
            }
        }
    }

    private func column(_ statement: OpaquePointer?, _ index: Int32) -> Value {
        switch unsafe sqlite3_column_type(statement, index) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, index))
        case SQLITE_BLOB: return .blob(unsafe bytes(statement, index))
        default:
            unsafe _ = sqlite3_column_text(statement, index)
            return .text(unsafe bytes(statement, index))
        }
    }

    private func bytes(_ statement: OpaquePointer?, _ index: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(statement, index) else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    }
}

extension RawDatabase {
    /// Lets `body` write what the schema forbids: `STRICT`, `NOT NULL` and `CHECK` are taken out of the schema and put
    /// back, as somebody with a hex editor could.
    func withoutConstraints(_ body: () throws -> Void) throws {
        let tables = try run("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%'")
        try execute("PRAGMA writable_schema = ON")
        for table in tables {
            guard case .text(let sql) = table[1] else { continue }
            try setSchema(of: table[0], to: Self.relaxed(String(decoding: sql, as: UTF8.self)))
        }
        try execute("PRAGMA writable_schema = RESET")
        let outcome = Result { try body() }
        try execute("PRAGMA writable_schema = ON")
        for table in tables {
            guard case .text(let sql) = table[1] else { continue }
            try setSchema(of: table[0], to: String(decoding: sql, as: UTF8.self))
        }
        try execute("PRAGMA writable_schema = RESET")
        try outcome.get()
    }

    private func setSchema(of table: Value, to sql: String) throws {
        try run("UPDATE sqlite_schema SET sql = ? WHERE name = ?", [.text([UInt8](sql.utf8)), table])
    }

    private static func relaxed(_ sql: String) -> String {
        sql.replacing(#/CHECK \([^()]*(\([^()]*\)[^()]*)*\)/#, with: "")
            .replacing("NOT NULL", with: "")
            .replacing("STRICT", with: "")
    }
}
