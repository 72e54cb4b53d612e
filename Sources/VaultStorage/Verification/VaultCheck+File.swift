import VaultCrypto

extension VaultCheck {
    /// SQLite's own checks, table by table: of the pages and indexes, and of references to rows that do not exist.
    ///
    /// These two cannot be cut into batches. They read a big table at the speed of the disk.
    func checkFile() throws(StoreError) {
        do throws(StoreError) { try VaultSchema.check(connection) } catch {
            guard error.isDamage || error.isForeignSchema else { throw error }
            note("file", nil, error.reason)
        }
        // From the schema itself, so that no table is forgotten. What the file has beside it was told above.
        let tables = try VaultSchema.expected().tables
        for table in ["sqlite_schema"] + tables {
            try damageAsFinding(table) { () throws(StoreError) in try checkPages(of: table) }
        }
        for table in tables {
            try damageAsFinding(table) { () throws(StoreError) in try checkReferences(of: table) }
        }
    }

    private func checkPages(of table: String) throws(StoreError) {
        let check = try IntegrityCheck(connection, table)
        while let problem = try check.next() { note("file", nil, "the table \(table) is damaged: \(problem)") }
    }

    private func checkReferences(of table: String) throws(StoreError) {
        let rows = try Statement(connection, "PRAGMA foreign_key_check(\(table))")
        while try rows.step() {
            report.note(
                table, "row \(rows.integer(1))", "it belongs to a row of \(rows.text(2)) that does not exist")
        }
    }
}

extension StoreError {
    /// Whether it says that the schema is not the one that this program made.
    fileprivate var isForeignSchema: Bool {
        switch code {
        case .foreignSchemaObject, .newerSchema, .migrationNeeded: true
        default: false
        }
    }
}
