import CSQLite
package import VaultStorage

/// The rows of one query on another program's database.
package final class ForeignCursor {
    private let statement: Statement
    private let columnCount: Int

    init(_ statement: Statement, columnCount: Int) {
        self.statement = statement
        self.columnCount = columnCount
    }

    package func next() throws(StoreError) -> Bool { try statement.step() }

    /// The values of the row, with each value's own type: SQLite does not enforce column types.
    package func values(longest: Int) -> [ForeignValue] {
        (0..<columnCount).map { value(Int32($0), longest: longest) }
    }

    /// Starts over with the rows that have this value.
    package func look(for value: ForeignValue) {
        statement.reset()
        switch value {
        case .integer(let number): statement.bind(1, number)
        case .text(let text): statement.bind(1, text)
        case .blob(let bytes): unsafe bytes.withUnsafeBytes { unsafe statement.bind(1, copying: $0) }
        case .null, .real, .malformedText, .tooLong: statement.bindNull(1)
        }
    }

    package func reset() { statement.reset() }

    private func value(_ column: Int32, longest: Int) -> ForeignValue {
        switch unsafe sqlite3_column_type(statement.handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(statement.integer(column))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(statement.handle, column))
        case SQLITE_TEXT:
            guard let text = unsafe sqlite3_column_text(statement.handle, column) else { return .null }
            let count = Int(unsafe sqlite3_column_bytes(statement.handle, column))
            guard count <= longest else { return .tooLong }
            let bytes = unsafe UnsafeBufferPointer(start: text, count: count)
            return unsafe String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .malformedText
        default:
            let bytes = unsafe statement.blob(column)
            return bytes.count <= longest ? .blob(unsafe [UInt8](bytes)) : .tooLong
        }
    }
}

/// A value as SQLite stores it.
package enum ForeignValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    /// Text that is not UTF-8.
    case malformedText
    case tooLong
}
