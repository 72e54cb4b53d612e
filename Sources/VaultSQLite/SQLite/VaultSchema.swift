import CSQLite
import Platform
import VaultMigrations
import VaultStorage

/// The exact schema that a vault must have. A trigger or view planted in the file would run inside our connection.
struct VaultSchema: Equatable, Sendable {
    struct Object: Hashable, Sendable {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    /// Type, name, table and SQL of each object, in creation order.
    let rows: [[[UInt8]]]

    private static let query: StaticString = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"

    init(of connection: Connection) throws(StoreError) {
        let found = try Statement(connection, Self.query.description)
        var rows: [[[UInt8]]] = []
        while try found.step() { rows.append((0..<4).map { Array(found.text($0).utf8) }) }
        self.rows = rows
    }

    /// Parses ``text``.
    init(text: [UInt8]) {
        var rows: [[[UInt8]]] = []
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.starts(with: "# ".utf8) {
                let names = line.dropFirst(2).split(separator: UInt8(ascii: " "))
                rows.append(names.map { Array($0) } + [[]])
            } else if var object = rows.popLast(), var sql = object.popLast() {
                if !line.isEmpty { sql += sql.isEmpty ? line : [UInt8(ascii: "\n")] + line }
                rows.append(object + [sql])
            }
        }
        self.rows = rows
    }

    /// `# type name table` for each object, followed by its SQL, if it has any.
    var text: String {
        texts.map { texts in
            "# " + texts[..<3].joined(separator: " ") + "\n" + (texts[3].isEmpty ? "" : texts[3] + "\n")
        }.joined(separator: "\n")
    }

    var objects: Set<Object> {
        Set(texts.map { Object(type: $0[0], name: $0[1], table: $0[2], sql: $0[3]) })
    }

    private var texts: [[String]] { rows.map { row in row.map { String(decoding: $0, as: UTF8.self) } } }

    static func == (own: VaultSchema, other: VaultSchema) -> Bool { own.objects == other.objects }

    /// Whether a vault has these objects in this creation order, as nearly all have. A comparison of bytes, because
    /// each opening makes it.
    private func isThat(of connection: Connection) throws(StoreError) -> Bool {
        let found = try Statement(connection, Self.query.description)
        for row in rows {
            guard try found.step() else { return false }
            for (column, text) in row.enumerated() where !found.hasText(Int32(column), text) { return false }
        }
        return try !found.step()
    }

    /// The schema of this version's vaults. A constant, because applying all the steps would take milliseconds at each
    /// start.
    static let current = VaultSchema(text: Migrations.schema)

    var tables: [String] { objects.filter { $0.type == "table" }.map(\.name).sorted() }

    /// The schema that the steps produce from an empty vault.
    init(after migrations: [Migration]) throws(StoreError) {
        let connection = try Connection(path: ":memory:", access: .memory)
        for migration in migrations { try connection.execute(migration.sql) }
        try self.init(of: connection)
    }

    /// Refuses a file that is not a vault, a newer vault, an unmigrated one, and one with a foreign object.
    static func check(_ connection: Connection, migrations: [Migration] = Migrations.all) throws(StoreError) {
        let known = migrations.last?.version ?? 0
        let found = try version(of: connection)
        if found < known {
            try checkFinished(connection)
            try checkRecord(of: connection, version: found, migrations: migrations)
            throw StoreError(
                .migrationNeeded(found: found, known: known),
                "the vault has schema version \(found), and this version needs \(known)",
                hint: "run `vaultctl migrate up`, which keeps a copy of the vault as it is")
        }
        try check(connection, is: current)
        try checkRecord(of: connection, version: found, migrations: migrations, hasRecord: true)
    }

    /// The schema's version, once the file is known to be a vault that is not newer than this program.
    static func version(
        of connection: Connection, known: Int = Migrations.all.last?.version ?? 0
    ) throws(StoreError) -> Int {
        let applicationID = try connection.integer("PRAGMA application_id")
        guard applicationID == connection.applicationID else {
            if applicationID == BackupContainer.applicationID {
                throw StoreError(
                    .notAVault, "the file is a backup of a vault, and cannot be used as a vault",
                    hint: "make a vault of it: vaultctl backup restore '\(connection.path)' NEW-VAULT")
            }
            if try connection.integer("PRAGMA page_count") == 0 {
                throw StoreError(
                    .notAVault, "the file is empty: a vault was never finished here, or something has emptied it",
                    hint: "restore a backup; or move it away and run `vaultctl init` again: "
                        + VaultRemains.movingAll(of: connection.path))
            }
            throw StoreError(.notAVault, "the file is not a vault", hint: "check the path")
        }
        let found = Int(try connection.integer("PRAGMA user_version"))
        guard found <= known else {
            throw StoreError(
                .newerSchema(found: found, known: known),
                "the vault has schema version \(found), and this version knows only \(known)",
                hint: "use the version of TokenVault that wrote it, or a later one")
        }
        return found
    }

    /// Refuses a vault whose header and migration record disagree about the version. The header's version counts
    /// everywhere.
    ///
    /// - Parameter hasRecord: whether the record's table exists; nil if that is not known.
    static func checkRecord(
        of connection: Connection, version: Int, migrations: [Migration] = Migrations.all, hasRecord: Bool? = nil
    ) throws(StoreError) {
        let table = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migration'"
        let hasRecord = if let hasRecord { hasRecord } else { try connection.integer(table) == 1 }
        var recorded: [Int] = []
        if hasRecord {
            let rows = try Statement(connection, "SELECT version FROM migration ORDER BY version")
            while try rows.step() { recorded.append(Int(rows.integer(0))) }
        }
        let hasGaps = zip(recorded, 1...).contains { $0 != $1 }
        guard hasGaps || recorded.count != version else { return }
        let last = recorded.last ?? 0
        let asRecorded = try VaultSchema(after: migrations.filter { $0.version <= last })
        let found = try VaultSchema(of: connection)
        let isHeaderWrong = !hasGaps && found == asRecorded
        throw StoreError(
            .damaged,
            "the vault's schema has version \(version) by the file's header and \(last) by its record of migrations",
            hint: isHeaderWrong
                ? "its tables are those of version \(last): if nothing else was changed, run: "
                    + "sqlite3 '\(connection.path)' 'PRAGMA user_version = \(last)'"
                : "find out who changed the file; restore a backup")
    }

    /// Refuses a vault that former versions left unfinished because they were killed while making it.
    static func checkFinished(_ connection: Connection) throws(StoreError) {
        let tables = Set(try VaultSchema(of: connection).objects.map(\.name))
        for table in ["vault", "keySlot", "user", "audit"] where tables.contains(table) {
            if try connection.integer("SELECT EXISTS (SELECT 1 FROM \(table))") == 1 { return }
        }
        throw StoreError(
            .vaultUnfinished, "this vault was never finished: it has no key",
            hint: "if it is a copy, it lacks the original's log, \(connection.path)-wal; otherwise move it away and "
                + "run `vaultctl init` again: \(VaultRemains.movingAll(of: connection.path))")
    }

    /// Explains why no vault can be made where a file exists: an unfinished one must be removed first.
    static func explain(_ error: StoreError, at file: VaultFile) -> StoreError {
        guard error.code == .vaultExists, file.exists else { return error }
        do throws(StoreError) {
            try file.check()
            let connection = try Connection(path: file.path, access: .readOnly)
            try connection.prepareForInspection()
            guard try connection.integer("PRAGMA application_id") == Connection.applicationID else { return error }
            try checkFinished(connection)
            return error
        } catch {
            return error.code == .vaultUnfinished ? error : PrivateFile.creationError(.exists, file.path)
        }
    }

    /// Checks that the schema still has the version from the opening. Reads one number of the first page.
    static func checkIsUnchanged(_ connection: Connection) throws(StoreError) {
        let row = try connection.statement("PRAGMA user_version")
        defer { row.reset() }
        let known = Int64(Migrations.all.last?.version ?? 0)
        guard try row.step(), row.integer(0) != known else { return }
        let found = Int(row.integer(0))
        guard found > known else {
            throw StoreError(
                .rollbackSuspected, "the vault's schema is older than it was when this process opened it",
                hint: "find out who replaced the file; nothing is written to it")
        }
        throw StoreError(
            .newerSchema(found: found, known: Int(known)),
            "another process has brought the vault to schema version \(found), and this version knows only \(known)",
            hint: "restart this process with the version of TokenVault that did it")
    }

    static func check(_ connection: Connection, is expected: VaultSchema) throws(StoreError) {
        if try expected.isThat(of: connection) { return }
        let found = try VaultSchema(of: connection)
        if let foreign = found.objects.subtracting(expected.objects).map(\.name).min() {
            throw StoreError(
                .foreignSchemaObject(foreign),
                "the vault's schema holds something that this program did not put there: \(foreign)",
                hint: "find out who changed the file; restore a backup")
        }
        if let missing = expected.objects.subtracting(found.objects).map(\.name).min() {
            throw StoreError(
                .damaged, "the vault's schema lacks \(missing)", hint: "find out who changed the file; restore a backup"
            )
        }
    }
}
