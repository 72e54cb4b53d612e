import CSQLite
import VaultMigrations
import VaultStorage

extension Connection: TableAccess {
    func cursor(_ query: Query) throws(StoreError) -> any RowCursor {
        if let cursor = try cursors?.cursor(query) { return cursor }
        return try statement(query)
    }

    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    var changeCount: Int { Int(unsafe sqlite3_changes(handle)) }

    var migrations: [Migration] { Migrations.all }

    /// SQLite has accepted or refused each change with its step.
    func settle() {}

    func highestFence() throws(StoreError) -> Int64 {
        let last = try statement(
            """
            SELECT coalesce((SELECT max(CASE WHEN typeof(seq) <> 'integer' OR seq < 0 THEN 0x7fffffffffffffff
                    ELSE seq END) FROM sqlite_sequence WHERE name = 'refreshIntent'), 0),
                coalesce((SELECT max(fence) FROM refreshIntent WHERE fence < 0x4000000000000000), 0)
            """)
        defer { last.reset() }
        guard try last.step() else { return 0 }
        return last.integer(0) == .max ? -1 : max(last.integer(0), last.integer(1))
    }

    func setHighestFence(_ fence: Int64) throws(StoreError) {
        try execute("DELETE FROM sqlite_sequence WHERE name = 'refreshIntent'")
        try execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('refreshIntent', \(fence))")
    }

    func rawRows(of table: Table, where column: String, is number: Int64) throws(StoreError) -> [RawRow] {
        let row = try Statement(self, "SELECT * FROM \(table.rawValue) WHERE \(column) = ?1")
        row.bind(1, number)
        var rows: [RawRow] = []
        while try row.step() { rows.append(row.rawRow(of: table.rawValue)) }
        return rows
    }

    func checkSchema() throws(StoreError) {
        do throws(StoreError) { try VaultSchema.checkIsUnchanged(self) } catch {
            if case .newerSchema = error.code { liveness?.giveUp(error) }
            throw error
        }
    }

    func checkStorage(_ findings: any StorageFindings) throws(StoreError) {
        try longReading { () throws(StoreError) in try DatabaseCheck(connection: self).check(findings) }
    }

    /// SQLite counts its own commits, and those of others that it notices when it begins a transaction.
    var changeMark: Int64? {
        var version: Int32 = 0
        let code = unsafe vault_file_control_int(handle, SQLITE_FCNTL_DATA_VERSION, &version)
        return code == SQLITE_OK ? Int64(version) : nil
    }

    func markOfSettings() throws(StoreError) -> Int64? { try cursors?.markOfSettings() }

    func expectManyChanges() throws(StoreError) { try enlargeCache() }

    /// This process's own name needs no check of the lock file: its intents are read with each step of a renewal.
    func isOwnerAlive(_ owner: Int64) -> Bool {
        guard let owners else { return true }
        return owner == owners.owner || owners.isAlive(owner)
    }

    /// SQLite 3.7.0–3.51.2 can lose commits when a checkpoint meets a restart of the WAL: see ``CheckpointGate``.
    func facts() throws(StoreError) -> EngineReport {
        EngineReport(
            kind: .sqlite, schemaVersion: Int(try integer("PRAGMA user_version")),
            byteCount: try integer("PRAGMA page_count") * integer("PRAGMA page_size"),
            version: SQLiteLibrary.version, sourceID: SQLiteLibrary.sourceID,
            canLoseCommits: SQLiteLibrary.isAffectedByWALReset)
    }

    func snapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        try execute("BEGIN")
        defer { if !isOutsideTransaction { try? execute("ROLLBACK") } }
        return try body()
    }

    func longReading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        let announcement = announceLongReading()
        defer { withExtendedLifetime(announcement) {} }
        return try whileWanted(body)
    }

    /// In instructions of SQLite's virtual machine; a few milliseconds' worth.
    static let stepsBetweenLooks: Int32 = 20_000

    /// Interrupts long statements once their caller has cancelled. See ``BlockingWork/isCancelled``.
    private func whileWanted<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        unsafe sqlite3_progress_handler(
            handle, Self.stepsBetweenLooks, { _ in BlockingWork.isCancelled ? 1 : 0 }, nil)
        defer { unsafe sqlite3_progress_handler(handle, 0, nil, nil) }
        let result = Result(catching: body)
        if BlockingWork.isCancelled { throw StoreError(.closed, "the operation was cancelled before its end") }
        return try result.get()
    }
}

extension Statement {
    /// The statement's current row, with all its columns.
    fileprivate func rawRow(of table: String) -> RawRow {
        let count = unsafe sqlite3_column_count(handle)
        return RawRow(
            table: table,
            columns: (0..<count).map { index in
                let name = unsafe sqlite3_column_name(handle, index).map { unsafe String(cString: $0) } ?? ""
                return RawRow.Column(name: name, value: rawValue(index))
            })
    }

    private func rawValue(_ column: Int32) -> RawRow.Value {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(textBytes(column))
        default: .blob(bytes(column))
        }
    }

    private func textBytes(_ column: Int32) -> [UInt8] {
        guard let text = unsafe sqlite3_column_text(handle, column) else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
