import Testing
import VaultSQLite
import VaultStorage

/// What somebody can put into the schema, so that it runs or is believed inside the vault's own connection.
@Suite struct SchemaAttackTests {
    private static let tables = [
        "vault", "keySlot", "provider", "user", "migration", "login", "loginSecret", "refreshIntent",
        "untoldFailure", "authorizationRequest", "outbox", "audit", "backup",
        "observer",
    ]

    /// SQL by the name of the attack.
    private static var attacks: [(name: String, sql: String)] {
        var result: [(String, String)] = [
            ("statistics", "ANALYZE"), ("application id", "PRAGMA application_id = 1"),
            ("no application id", "PRAGMA application_id = 0"),
        ]
        for table in tables {
            for event in ["INSERT", "UPDATE", "DELETE"] {
                for moment in ["BEFORE", "AFTER"] {
                    result.append(
                        (
                            "\(moment) \(event) trigger on \(table)",
                            "CREATE TRIGGER spy \(moment) \(event) ON \(table) BEGIN DELETE FROM audit; END"
                        ))
                }
            }
            result += [
                ("view on \(table)", "CREATE VIEW spy AS SELECT * FROM \(table)"),
                (
                    "view instead of \(table)",
                    "ALTER TABLE \(table) RENAME TO spy; CREATE VIEW \(table) AS SELECT * FROM spy"
                ),
                ("index on \(table)", "CREATE INDEX spy ON \(table) (1)"),
                ("column of \(table)", "ALTER TABLE \(table) ADD COLUMN spy TEXT"),
                ("missing \(table)", "DROP TABLE \(table)"),
                ("copy of \(table)", "CREATE TABLE spy AS SELECT * FROM \(table)"),
                ("lax types of \(table)", edit(table, "replace(sql, 'STRICT', '')")),
                ("a default in \(table)", edit(table, "replace(sql, 'NOT NULL', 'NOT NULL DEFAULT 1')")),
                ("no constraint in \(table)", edit(table, "replace(sql, 'NOT NULL', '')")),
            ]
        }
        for index in ["loginByUser", "loginByDueAt", "authorizationRequestByExpiry", "outboxByNextAttempt"] {
            result.append(("missing index \(index)", "DROP INDEX \(index)"))
            result.append(("narrow index \(index)", edit(index, "sql || ' WHERE 0'", isAppending: true)))
        }
        return result
    }

    private static func edit(_ name: String, _ sql: String, isAppending: Bool = false) -> String {
        let condition = isAppending ? "AND sql NOT LIKE '% WHERE %'" : ""
        return """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = \(sql) WHERE name = '\(name)' \(condition);
            PRAGMA writable_schema = OFF
            """
    }

    @Test func noForeignSchemaIsOpened() async throws {
        let image = try await VaultImage.history().current
        var refused = 0
        var impossible: [String] = []
        for (name, sql) in Self.attacks {
            let vault = try image.layOut()
            let before = try RawDatabase(vault.path).run("SELECT type, name, sql FROM sqlite_schema")
            // Some cannot even be made.
            try? RawDatabase(vault.path).execute(sql)
            let after = try? RawDatabase(vault.path).run("SELECT type, name, sql FROM sqlite_schema")
            if before == after, !name.hasSuffix("application id") {
                impossible.append(name)
                continue
            }
            let error = #expect(throws: StoreError.self, "\(name)") { try vault.open().close() }
            switch error?.code {
            case .foreignSchemaObject, .damaged, .notAVault: refused += 1
            default: Issue.record("\(name): \(String(describing: error))")
            }
        }
        print("schema: \(refused) attacks refused at opening, not possible: \(impossible)")
        #expect(refused > 150)
    }

    /// An index that tells of other rows than its table: the rows are put aside while it is not in the schema.
    @Test(arguments: [
        ("loginByUser", "UPDATE login SET user = 1 + user % 4"),
        ("loginByUser", "DELETE FROM login WHERE id = 2"),
        ("loginByDueAt", "UPDATE login SET dueAt = 5 WHERE dueAt IS NOT NULL"),
        ("outboxByNextAttempt", "UPDATE outbox SET nextAttemptAt = nextAttemptAt + 5"),
        ("authorizationRequestByExpiry", "UPDATE authorizationRequest SET expiresAt = expiresAt + 5"),
    ])
    func anIndexThatTellsOtherThingsThanItsTableIsFound(index: String, sql: String) async throws {
        let vault = try await VaultImage.history().current.layOut()
        let columns = "type, name, tbl_name, rootpage, sql"
        try RawDatabase(vault.path).execute(
            """
            PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON;
            CREATE TABLE kept AS SELECT \(columns) FROM sqlite_schema WHERE name = '\(index)';
            DELETE FROM sqlite_schema WHERE name = '\(index)';
            """)
        try RawDatabase(vault.path).execute("PRAGMA foreign_keys = OFF; \(sql)")
        try RawDatabase(vault.path).execute(
            """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_schema (\(columns)) SELECT \(columns) FROM kept; DROP TABLE kept
            """)
        let store = try vault.open()
        defer { store.close() }
        #expect(try await store.verify().findings.contains { $0.place == "file" && $0.problem.contains("damaged") })
    }
}
