import CSQLite

/// A connection without any of the store's settings, but one that leaves the WAL as it is.
@safe package final class RawConnection: @unchecked Sendable {
    package struct Refusal: Error { package let code: Int32 }

    private let handle: OpaquePointer

    package init(_ path: String) throws {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw Refusal(code: code)
        }
        unsafe self.handle = handle
        try execute("PRAGMA wal_autocheckpoint = 0")
        var keeps: Int32 = 1
        unsafe _ = vault_file_control_int(handle, SQLITE_FCNTL_PERSIST_WAL, &keeps)
        unsafe _ = vault_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil)
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    package func execute(_ sql: String) throws {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Refusal(code: code) }
    }

    /// The one integer that a query gives.
    package func integer(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw Refusal(code: code) }
        defer { unsafe _ = sqlite3_finalize(statement) }
        let step = unsafe sqlite3_step(statement)
        guard step == SQLITE_ROW else { throw Refusal(code: step) }
        return unsafe sqlite3_column_int64(statement, 0)
    }

    /// A checkpoint as SQLite runs it by itself: with no lock that keeps writers away. Returns SQLite's result code.
    package func checkpointUngated() -> Int32 {
        unsafe sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}
