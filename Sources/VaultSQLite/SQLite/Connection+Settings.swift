import CSQLite
import VaultCrypto
import VaultStorage

/// The settings that every connection makes and reads back.
extension Connection {
    /// Appears as `TVLT` in a hex dump of the file.
    static let applicationID: Int64 = 0x5456_4C54
    static let busyTimeout: Int32 = 10_000
    /// The size to which a WAL that restarts truncates its file, so that it need not grow again: several times
    /// ``CheckpointSchedule/threshold``.
    static let journalSizeLimit: Int64 = 4 * 1024 * 1024
    /// The same while big batches follow each other: the size between two of their checkpoints.
    static let journalSizeLimitOfBatches: Int64 = 48 * 1024 * 1024

    private static var flags: [(option: Int32, value: Int32, name: String)] {
        [
            (SQLITE_DBCONFIG_DEFENSIVE, 1, "defensive"),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, "trusted schema"),
            (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, "writable schema"),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, "triggers"),
            (SQLITE_DBCONFIG_ENABLE_VIEW, 0, "views"),
            (SQLITE_DBCONFIG_ENABLE_FKEY, 1, "foreign keys"),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, "extensions"),
            (SQLITE_DBCONFIG_DQS_DML, 0, "double-quoted strings"),
            (SQLITE_DBCONFIG_DQS_DDL, 0, "double-quoted strings"),
            // Checkpoints run behind the gate only; see ``checkpointsWhenLast()`` for the exception.
            (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, "no checkpoint on close"),
        ]
    }

    /// The longest cell, and the rest of its row.
    static let rowLimit = Int32(SealedCell.maximumByteCount) + 100_000

    private static var limits: [(category: Int32, value: Int32)] {
        [
            (SQLITE_LIMIT_LENGTH, rowLimit), (SQLITE_LIMIT_SQL_LENGTH, 100_000), (SQLITE_LIMIT_COLUMN, 64),
            (SQLITE_LIMIT_COMPOUND_SELECT, 4), (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_ATTACHED, 0),
            (SQLITE_LIMIT_VARIABLE_NUMBER, 32), (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
        ]
    }

    private static var pragmas: [(name: String, value: Int64)] {
        [
            ("synchronous", 2), ("foreign_keys", 1), ("secure_delete", 1), ("temp_store", 2), ("mmap_size", 0),
            ("trusted_schema", 0), ("cell_size_check", 1), ("wal_autocheckpoint", 0),
            ("journal_size_limit", journalSizeLimit), ("busy_timeout", Int64(busyTimeout)),
        ]
    }

    /// Runs a body in which SQLite fails at once where another connection holds a lock.
    func withoutWaiting(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        unsafe sqlite3_busy_timeout(handle, 0)
        defer { unsafe _ = sqlite3_busy_timeout(handle, Self.busyTimeout) }
        try body()
    }

    /// Settings that are safe before the file is known to be a vault.
    func prepareForInspection() throws(StoreError) {
        unsafe sqlite3_busy_timeout(handle, Self.busyTimeout)
        for flag in Self.flags {
            var result: Int32 = -1
            let code = unsafe vault_db_config_flag(handle, flag.option, flag.value, &result)
            guard code == SQLITE_OK, result == flag.value else { throw Self.refused(flag.name) }
        }
    }

    /// Makes every setting, reads it back, and throws if SQLite did not accept it.
    func configure(isReader: Bool = false) throws(StoreError) {
        try prepareForInspection()
        if access.isWritable { try configureLog() }
        for pragma in Self.pragmas {
            try execute("PRAGMA \(pragma.name) = \(pragma.value)")
            guard try integer("PRAGMA \(pragma.name)") == pragma.value else { throw Self.refused(pragma.name) }
        }
        if isReader {
            try execute("PRAGMA query_only = 1")
            guard try integer("PRAGMA query_only") == 1 else { throw Self.refused("query_only") }
        }
        try configureLimits()
    }

    func configureLimits() throws(StoreError) {
        for limit in Self.limits {
            unsafe sqlite3_limit(handle, limit.category, limit.value)
            guard unsafe sqlite3_limit(handle, limit.category, -1) <= limit.value else { throw Self.refused("limits") }
        }
    }

    private func configureLog() throws(StoreError) {
        guard try text("PRAGMA journal_mode = WAL") == "wal" else { throw Self.refused("journal_mode") }
        var persistsWAL: Int32 = 1
        guard unsafe vault_file_control_int(handle, SQLITE_FCNTL_PERSIST_WAL, &persistsWAL) == SQLITE_OK,
            persistsWAL == 1
        else { throw Self.refused("persistent WAL") }
    }

    /// Lets SQLite move the WAL into the database file, and truncate it to nothing, when this connection closes and is
    /// the very last one. That needs no gate: SQLite does it under the exclusive lock of the database file, when no
    /// other connection of any process is left to restart the WAL.
    ///
    /// Only for connections that are about to close, and not while the WAL is doubtful.
    func checkpointsWhenLast() {
        var result: Int32 = -1
        unsafe _ = vault_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, &result)
    }

    private static func refused(_ setting: String) -> StoreError {
        StoreError(
            .io(SQLITE_MISUSE), "SQLite did not accept the setting “\(setting)”",
            hint: "the SQLite library was built without it; use the one of the distribution")
    }
}
