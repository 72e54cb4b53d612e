import CSQLite

/// Write access to a vault's file, without a key.
package struct Intruder: Sendable {
    package let path: String

    package struct Failed: Error {
        let code: Int32
    }

    package init(path: String) { self.path = path }

    package func execute(_ sql: String) throws {
        let connection = try unsafe open()
        defer { unsafe sqlite3_close(connection) }
        let code = unsafe sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failed(code: code) }
    }

    /// The first value of the first row.
    package func text(_ sql: String) throws -> String? {
        let connection = try unsafe open()
        defer { unsafe sqlite3_close(connection) }
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw Failed(code: code) }
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_step(statement) == SQLITE_ROW, let text = unsafe sqlite3_column_text(statement, 0) else {
            return nil
        }
        return unsafe String(cString: text)
    }

    /// Begins a transaction that lasts until the given action is called.
    package func lockForWriting() throws -> @Sendable () -> Void {
        let connection = try unsafe open()
        let code = unsafe sqlite3_exec(connection, "BEGIN IMMEDIATE", nil, nil, nil)
        guard code == SQLITE_OK else {
            unsafe sqlite3_close(connection)
            throw Failed(code: code)
        }
        let address = UInt(bitPattern: connection)
        return { _ = unsafe sqlite3_close(OpaquePointer(bitPattern: address)) }
    }

    private func open() throws -> OpaquePointer? {
        var connection: OpaquePointer?
        guard unsafe sqlite3_open(path, &connection) == SQLITE_OK else {
            unsafe sqlite3_close(connection)
            throw Failed(code: SQLITE_CANTOPEN)
        }
        _ = unsafe sqlite3_busy_timeout(connection, 5_000)
        return unsafe connection
    }
}
