import CPostgreSQL
import VaultStorage

/// The rows, or the success, of a command. libpq keeps them until this object is released.
@safe final class ResultSet {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { unsafe self.result = unsafe result }

    deinit { unsafe LibPQclear(result) }

    var rowCount: Int32 { unsafe LibPQntuples(result) }

    var columnCount: Int32 { unsafe LibPQnfields(result) }

    /// The number of rows that the command changed.
    var changeCount: Int { unsafe LibPQcmdTuples(result).map { unsafe Int(String(cString: $0)) ?? 0 } ?? 0 }

    /// Such as `COMMIT`; a failed transaction answers that with `ROLLBACK`.
    var tag: String { unsafe LibPQcmdStatus(result).map { unsafe String(cString: $0) } ?? "" }

    private func has(_ row: Int32, _ column: Int32) -> Bool {
        row >= 0 && row < rowCount && (0..<columnCount).contains(column)
    }

    func isNull(_ row: Int32, _ column: Int32) -> Bool {
        unsafe !has(row, column) || LibPQgetisnull(result, row, column) == 1
    }

    /// Valid as long as the result set is.
    func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        guard !isNull(row, column), let start = unsafe LibPQgetvalue(result, row, column) else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(LibPQgetlength(result, row, column)))
    }

    /// 0 if there is no integer.
    func integer(_ row: Int32, _ column: Int32) -> Int64 {
        let bytes = unsafe bytes(row, column)
        guard bytes.count == 8 else { return 0 }
        return unsafe bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    func text(_ row: Int32, _ column: Int32) -> String {
        unsafe String(decoding: bytes(row, column), as: UTF8.self)
    }
}
