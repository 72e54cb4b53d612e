import CSQLite

/// Somebody with write access to the file and without a key.
struct Intruder {
    let path: String

    struct Failed: Error {
        let code: Int32
    }

    func execute(_ sql: String) throws {
        var connection: OpaquePointer?
        guard unsafe sqlite3_open(path, &connection) == SQLITE_OK else { throw Failed(code: SQLITE_CANTOPEN) }
        defer { unsafe sqlite3_close(connection) }
        _ = unsafe sqlite3_busy_timeout(connection, 5_000)
        let code = unsafe sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failed(code: code) }
    }
}
