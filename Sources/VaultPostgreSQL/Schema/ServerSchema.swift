import VaultStorage

/// The schema as the server's catalogue describes it.
struct ServerSchema {
    private let name: String
    /// The engine's tables in addition to the vault's own.
    private static let ownTables = ["engineState", "process"]

    init(_ name: String) { self.name = name }

    /// The schema's content: nothing, a vault, or something else.
    enum Content { case nothing, vault, other }

    func content(_ connection: ServerConnection) throws(StoreError) -> Content {
        let names = try relations(connection).names
        if names.isEmpty { return .nothing }
        return names.isSuperset(of: ["vault", "migration"]) ? .vault : .other
    }

    func exists(_ connection: ServerConnection) throws(StoreError) -> Bool {
        let answer = try connection.answer(to: connection.send(Self.schema, Parameters([.text(name)])))
        guard answer.rowCount > 0 else { return false }
        try requireUse(answer.text(0, 0))
        return true
    }

    /// Without this right, the vault's tables look as if they were not there.
    private func requireUse(_ mayUse: String) throws(StoreError) {
        guard mayUse == "false" else { return }
        throw StoreError(
            .readOnly, "the database role may not use the schema \(name)",
            hint: "grant the vault's role what docs/postgresql.md lists")
    }

    /// Refuses a schema in which others have put something that acts when the vault is changed or read.
    func check(_ connection: ServerConnection) throws(StoreError) {
        let expected = Set(Table.allCases.map(\.rawValue) + Self.ownTables)
        let found = try relations(connection)
        if let foreign = found.names.subtracting(expected).min() { throw Self.foreign(foreign) }
        if let missing = expected.subtracting(found.names).min() { throw Self.missing(missing) }
        for statement in [Self.acting, Self.computing] {
            if let acting = try texts(statement, connection, found.numbers).first { throw Self.foreign(acting) }
        }
        if let function = try texts(Self.functions, connection, name).first { throw Self.foreign(function) }
        let columns = Set(try texts(Self.columns, connection, found.numbers))
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

    /// An index that PostgreSQL marks as unusable no longer keeps values unique.
    func noteInvalidIndexes(
        _ connection: ServerConnection, _ findings: any StorageFindings
    ) throws(StoreError) {
        for index in try texts(Self.invalid, connection, name) {
            findings.note("file", row: nil, "the index \(index) is invalid")
        }
    }

    /// The names of tables and similar objects, and their object ids as an array, by which catalogues have an index.
    private func relations(
        _ connection: ServerConnection
    ) throws(StoreError) -> (names: Set<String>, numbers: String) {
        let answer = try connection.answer(to: connection.send(Self.relations, Parameters([.text(name)])))
        let rows = 0..<answer.rowCount
        if answer.rowCount > 0 { try requireUse(answer.text(0, 2)) }
        let numbers = rows.map { answer.text($0, 1) }.joined(separator: ",")
        return (Set(rows.map { answer.text($0, 0) }), "{\(numbers)}")
    }

    private func texts(
        _ statement: Statement, _ connection: ServerConnection, _ parameter: String
    ) throws(StoreError) -> [String] {
        let answer = try connection.answer(to: connection.send(statement, Parameters([.text(parameter)])))
        return (0..<answer.rowCount).map { answer.text($0, 0) }
    }

    /// SQL for the object ids of what the catalogue lists and the schema `$1` holds. Catalogues have no index by schema, and a
    /// database may have very many other tables; but each object depends on its schema, and of that there is an index.
    static func members(_ catalogue: String) -> String {
        """
        ARRAY(SELECT objid FROM pg_depend WHERE refclassid = 'pg_namespace'::regclass AND classid = '\(catalogue)'::regclass
            AND refobjid = (SELECT oid FROM pg_namespace WHERE nspname = $1))
        """
    }

    private static let schema = Statement(
        "SELECT has_schema_privilege(oid, 'USAGE')::text FROM pg_namespace WHERE nspname = $1", [.text])

    private static let relations = Statement(
        """
        SELECT relname::text, oid::text, has_schema_privilege(relnamespace, 'USAGE')::text FROM pg_class
        WHERE oid = ANY (\(members("pg_class"))) AND relkind IN ('r', 'v', 'm', 'f', 'p', 'S')
        """, [.text])

    /// Triggers, rules and row security.
    private static let acting = Statement(
        """
        SELECT tgname::text FROM pg_trigger WHERE tgrelid = ANY ($1::oid[]) AND NOT tgisinternal
        UNION ALL
        SELECT rulename::text FROM pg_rewrite WHERE ev_class = ANY ($1::oid[])
        UNION ALL
        SELECT polname::text FROM pg_policy WHERE polrelid = ANY ($1::oid[])
        """, [.text])

    private static let functions = Statement(
        "SELECT proname::text FROM pg_proc WHERE oid = ANY (\(members("pg_proc")))", [.text])

    /// Everything that computes when a row is written: constraints, defaults, generated columns and indexes that call
    /// functions which the vault's own do not, and foreign types. Names are looked up one by one, because a join might
    /// scan the whole catalogue.
    private static let computing = Statement(
        #"""
        WITH computed AS (
            SELECT conname::text AS name, pg_get_constraintdef(oid) AS words FROM pg_constraint
            WHERE conrelid = ANY ($1::oid[]) AND contype IN ('c', 'x', 't')
            UNION ALL
            SELECT (SELECT relname FROM pg_class WHERE oid = d.adrelid) || '.' || a.attname,
                CASE WHEN a.attgenerated <> '' THEN 'generated()' ELSE pg_get_expr(d.adbin, d.adrelid) END
            FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
            WHERE d.adrelid = ANY ($1::oid[]) AND a.attrelid = ANY ($1::oid[])
            UNION ALL
            SELECT (SELECT relname::text FROM pg_class WHERE oid = indexrelid),
                concat(pg_get_expr(indpred, indrelid), CASE WHEN indexprs IS NOT NULL THEN 'computed()' END)
            FROM pg_index WHERE indrelid = ANY ($1::oid[])
        )
        SELECT name FROM computed WHERE regexp_replace(words,
            '\m(CHECK|AND|OR|NOT|octet_length|clock_timestamp)\s*\(', '(', 'g') ~ '[\w"]\s*\('
        UNION ALL
        SELECT (SELECT relname FROM pg_class WHERE oid = attrelid) || '.' || attname FROM pg_attribute
        WHERE attrelid = ANY ($1::oid[]) AND attnum > 0 AND NOT attisdropped
            AND (SELECT relkind FROM pg_class WHERE oid = attrelid) = 'r'
            AND (SELECT typnamespace FROM pg_type WHERE oid = atttypid) <> 'pg_catalog'::regnamespace
        """#, [.text])

    private static let columns = Statement(
        """
        SELECT (SELECT relname FROM pg_class WHERE oid = attrelid) || '.' || attname FROM pg_attribute
        WHERE attrelid = ANY ($1::oid[]) AND attnum > 0 AND NOT attisdropped
        """, [.text])

    private static let invalid = Statement(
        """
        SELECT (SELECT relname::text FROM pg_class WHERE oid = indexrelid) FROM pg_index
        WHERE indrelid = ANY (\(members("pg_class"))) AND NOT indisvalid
        """, [.text])
}
