import VaultCrypto
import VaultStorage

/// SQLite's own checks, table by table: of the pages and indexes, and of references to rows that do not exist.
///
/// These checks cannot be split into batches. They read a big table at the speed of the disk.
struct DatabaseCheck {
    let connection: Connection

    func check(_ findings: any StorageFindings) throws(StoreError) {
        do throws(StoreError) { try VaultSchema.check(connection) } catch {
            guard error.isDamage || error.isForeignSchema else { throw error }
            findings.note("file", row: nil, error.message)
        }
        // From the schema itself, so that no table is forgotten. Additional objects of the file were reported above.
        let tables = VaultSchema.current.tables
        for table in ["sqlite_schema"] + tables {
            try findings.damageAsFinding(table) { () throws(StoreError) in try checkPages(of: table, findings) }
        }
        for table in tables {
            try findings.damageAsFinding(table) { () throws(StoreError) in try checkReferences(of: table, findings) }
        }
        try findings.damageAsFinding("walMark") { () throws(StoreError) in try checkWALMark(findings) }
    }

    private func checkPages(of table: String, _ findings: any StorageFindings) throws(StoreError) {
        let pages = try IntegrityCheck(connection, table)
        while let problem = try pages.next() {
            findings.note("file", row: nil, "the table \(table) is damaged: \(problem)")
        }
    }

    private func checkReferences(of table: String, _ findings: any StorageFindings) throws(StoreError) {
        let rows = try Statement(connection, "PRAGMA foreign_key_check(\(table))")
        while try rows.step() {
            findings.note(
                table, row: "row \(rows.integer(1))", "it belongs to a row of \(rows.text(2)) that does not exist")
        }
    }

    /// Nothing authenticates the mark: it distinguishes files, and stops no attacker. In a copy that SQLite's own backup
    /// made, the file's cookie begins at 1, and the next change writes it into the mark.
    private func checkWALMark(_ findings: any StorageFindings) throws(StoreError) {
        let rows = try Statement(connection, "SELECT mark, previous, id, schemaCookie FROM walMark")
        let cookie = try connection.integer("PRAGMA schema_version")
        let known = 0...(cookie == 1 ? .max : max(0, cookie))
        guard try rows.step(), rows.bytes16(0) != nil, rows.bytes16(1) != nil, rows.integer(2) == 1,
            known.contains(rows.integer(3)), try !rows.step()
        else {
            findings.note("walMark", row: nil, "its row is missing or malformed")
            return
        }
    }
}

extension StoreError {
    /// Whether the problem says that this program did not make the schema.
    fileprivate var isForeignSchema: Bool {
        switch code {
        case .foreignSchemaObject, .newerSchema, .migrationNeeded: true
        default: false
        }
    }
}
