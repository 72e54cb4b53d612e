import CSQLite
import VaultStorage

/// SQLite's check of its pages and indexes.
struct IntegrityCheck {
    private let rows: Statement

    /// - Parameter argument: a table, or the maximum number of problems.
    init(_ connection: Connection, _ argument: String) throws(StoreError) {
        rows = try Statement(connection, "PRAGMA integrity_check(\(argument))")
    }

    /// The next problem found.
    ///
    /// A failed read from disk is not a problem of the file: SQLite reports it among the problems, and here it throws.
    func next() throws(StoreError) -> String? {
        while try rows.step() {
            let answer = rows.text(0)
            if answer == "ok" { continue }
            if let code = Self.failedRead(answer) { throw StoreError(sqlite: code, systemError: 0) }
            return answer
        }
        return nil
    }

    /// SQLite's result code, if the answer says that a page could not be read.
    private static func failedRead(_ answer: String) -> Int32? {
        if answer.contains("failed to get page") { return SQLITE_IOERR }
        let mark = answer.contains("error code=") ? "error code=" : "returns error code "
        guard let start = answer.firstRange(of: mark)?.upperBound,
            let code = Int32(answer[start...].prefix { $0.isASCII && $0.isNumber })
        else { return nil }
        let isOfFile = [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff)
        return isOfFile || code == SQLITE_OK ? nil : code
    }
}
