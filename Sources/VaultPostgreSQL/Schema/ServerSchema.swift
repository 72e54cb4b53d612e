import VaultStorage

/// The schema as the server's catalogue describes it.
struct ServerSchema {
    private let name: String
    /// What the engine keeps beside the vault's tables.
    private static let ownTables = ["engineState", "process"]

    init(_ name: String) { self.name = name }

    /// What lies there: nothing, a vault, or something else.
    enum Content { case nothing, vault, other }

    func content(_ connection: ServerConnection) throws(StoreError) -> Content {
        let names = try relations(connection)
        if names.isEmpty { return .nothing }
        return names.contains("vault") && names.contains("migration") ? .vault : .other
    }

    func exists(_ connection: ServerConnection) throws(StoreError) -> Bool {
        let answer = try connection.answer(to: connection.send(Self.schema, Parameters([.text(name)])))
        return answer.rowCount > 0
    }

    /// Refuses a schema in which others have put something that acts when the vault is changed or read.
    func check(_ connection: ServerConnection) throws(StoreError) {
        let expected = Set(Table.allCases.map(\.rawValue) + Self.ownTables)
        let found = Set(try relations(connection))
        if let foreign = found.subtracting(expected).min() { throw Self.foreign(foreign) }
        if let missing = expected.subtracting(found).min() { throw Self.missing(missing) }
        if let acting = try texts(Self.acting, connection).first { throw Self.foreign(acting) }
        if let computing = try texts(Self.computing, connection).first { throw Self.foreign(computing) }
        let columns = Set(try texts(Self.columns, connection))
        for table in Table.allCases {
            for column in [table.key] + table.fields.map(\.name) where !columns.contains("\(table.rawValue).\(column)")
            {
                throw Self.missing("\(table.rawValue).\(column)")
            }
        }
    }

    private static func foreign(_ name: String) -> StoreError {
        StoreError(
            .foreignSchemaObject(name),
            "the vault's schema holds something that this program did not put there: \(name)",
            hint: "find out who changed the schema")
    }

    private static func missing(_ name: String) -> StoreError {
        StoreError(.damaged, "the vault's schema lacks \(name)", hint: "find out who changed the schema")
    }

    /// An index that PostgreSQL itself holds for unusable no longer keeps values unique.
    func noteInvalidIndexes(
        _ connection: ServerConnection, _ findings: any StorageFindings
    ) throws(StoreError) {
        for index in try texts(Self.invalid, connection) {
            findings.note("file", row: nil, "the index \(index) is invalid")
        }
    }

    private func relations(_ connection: ServerConnection) throws(StoreError) -> [String] {
        try texts(Self.relations, connection)
    }

    private func texts(_ statement: Statement, _ connection: ServerConnection) throws(StoreError) -> [String] {
        let answer = try connection.answer(to: connection.send(statement, Parameters([.text(name)])))
        return (0..<answer.rowCount).map { answer.text($0, 0) }
    }

    private static let schema = Statement("SELECT 1::int8 FROM pg_namespace WHERE nspname = $1", [.text])

    private static let relations = Statement(
        """
        SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S')
        """, [.text])

    /// Triggers, rules and row security.
    private static let acting = Statement(
        """
        SELECT t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT t.tgisinternal
        UNION ALL
        SELECT r.rulename::text FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
        UNION ALL
        SELECT p.polname::text FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
        """, [.text])

    /// Functions, and what computes when a row is written: constraints, defaults, generated columns and indexes that call
    /// functions which the vault's own do not, and types that others have made.
    private static let computing = Statement(
        #"""
        WITH n AS (SELECT oid FROM pg_namespace WHERE nspname = $1),
        computed AS (
            SELECT c.conname::text AS name, pg_get_constraintdef(c.oid) AS words FROM pg_constraint c JOIN n
                ON n.oid = c.connamespace WHERE c.contype IN ('c', 'x', 't')
            UNION ALL
            SELECT r.relname || '.' || a.attname,
                CASE WHEN a.attgenerated <> '' THEN 'generated()' ELSE pg_get_expr(d.adbin, d.adrelid) END
            FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
                JOIN pg_class r ON r.oid = d.adrelid JOIN n ON n.oid = r.relnamespace
            UNION ALL
            SELECT r.relname::text, concat(pg_get_expr(i.indpred, i.indrelid),
                CASE WHEN i.indexprs IS NOT NULL THEN 'computed()' END)
            FROM pg_index i JOIN pg_class r ON r.oid = i.indexrelid JOIN n ON n.oid = r.relnamespace
        )
        SELECT p.proname::text FROM pg_proc p JOIN n ON n.oid = p.pronamespace
        UNION ALL
        SELECT name FROM computed WHERE regexp_replace(words,
            '\m(CHECK|AND|OR|NOT|octet_length|clock_timestamp)\s*\(', '(', 'g') ~ '[\w"]\s*\('
        UNION ALL
        SELECT r.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid
            JOIN n ON n.oid = r.relnamespace JOIN pg_type t ON t.oid = a.atttypid
        WHERE r.relkind = 'r' AND a.attnum > 0 AND t.typnamespace <> 'pg_catalog'::regnamespace
        """#, [.text])

    private static let columns = Statement(
        """
        SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
        """, [.text])

    private static let invalid = Statement(
        """
        SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT i.indisvalid
        """, [.text])
}
