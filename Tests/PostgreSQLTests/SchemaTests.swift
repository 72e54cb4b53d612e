import TestSupport
import TokenVaultTesting
import Testing
import VaultAdministration
import VaultCrypto
import VaultMigrations

@testable import VaultPostgreSQL
@testable import VaultStorage

/// What is refused as no vault of ours, and what can be made where.
struct SchemaTests {
    private static func refusal(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? StoreError)?.code }
    }

    private static func make(_ schema: String) throws -> PostgreSQLVaultStore {
        let state = try PrivateDirectory(in: PrivateDirectory.fastParent)
        let address = try ServerAddress(PostgreSQLServer.shared().address(schema: schema))
        return try PostgreSQLVaultStore.create(
            at: address, state: StateDirectory(state.file("state")), firstSlot: MemoryKey(), label: "test",
            clock: { ServerVault.now })
    }

    @Test func aSchemaThatHoldsSomethingIsNotTakenOver() throws {
        let vault = try ServerVault()
        #expect(Self.refusal { _ = try Self.make(vault.address.schema) } == .vaultExists)
        let other = PostgreSQLServer.newSchema()
        try vault.sql("CREATE SCHEMA \(other)")
        try vault.sql("CREATE TABLE \(other).note (id int)")
        #expect(Self.refusal { _ = try Self.make(other) } == .vaultExists)
        try vault.sql("DROP TABLE \(other).note")
        try Self.make(other).close()
    }

    @Test func ofTwoThatMakeOneAtOnceOneWins() async throws {
        let schema = PostgreSQLServer.newSchema()
        _ = try PostgreSQLServer.shared()
        let outcomes = await withTaskGroup(of: StoreError.Code?.self) { group in
            for _ in 0..<4 {
                group.addTask { @concurrent in Self.refusal { try Self.make(schema).close() } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == nil } == 1)
        #expect(outcomes.compactMap { $0 }.allSatisfy { $0 == .vaultExists })
    }

    @Test func aRelativeStateDirectoryNamesItsSetting() throws {
        let error = #expect(throws: StoreError.self) { _ = try StateDirectory("state") }
        #expect(error?.hint?.contains("TOKENVAULT_STATE_DIRECTORY") == true)
    }

    @Test func noVaultAndAnotherSchemaAreToldApart() throws {
        let vault = try ServerVault()
        let absent = try ServerAddress(vault.server.address(schema: PostgreSQLServer.newSchema()))
        let state = try StateDirectory(PrivateDirectory(in: PrivateDirectory.fastParent).file("state"))
        #expect(
            Self.refusal {
                _ = try PostgreSQLVaultStore.open(
                    at: absent, state: state, unlocker: vault.key, clock: { ServerVault.now })
            } == .vaultMissing)
        #expect(
            Self.refusal {
                _ = try PostgreSQLVaultStore.open(
                    at: vault.address, state: state, unlocker: MemoryKey(), clock: { ServerVault.now })
            } == .wrongKey)
    }

    @Test(arguments: [
        "CREATE TABLE extra (id int)", "CREATE VIEW extra AS SELECT 1 AS one", "CREATE SEQUENCE extra",
        "CREATE MATERIALIZED VIEW extra AS SELECT 1 AS one",
        "CREATE RULE extra AS ON DELETE TO \"audit\" DO INSTEAD NOTHING",
        "CREATE FUNCTION extra() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; ",
        "CREATE POLICY extra ON \"login\" USING (false)",
        "CREATE FUNCTION \"extra\"() RETURNS int LANGUAGE sql AS 'SELECT 1' ",
        "ALTER TABLE \"audit\" ADD CONSTRAINT extra CHECK (length(md5(\"kind\"::text)) > 0)",
        "CREATE INDEX extra ON \"audit\" (abs(\"kind\"))",
        "CREATE INDEX extra ON \"login\" (\"id\") WHERE abs(\"id\") > 0",
    ])
    func whatOthersHavePutThereIsRefused(_ command: String) throws {
        let vault = try ServerVault()
        try vault.sql(command)
        if command.contains("RETURNS trigger") {
            try vault.sql(#"CREATE TRIGGER extra BEFORE UPDATE ON "login" FOR EACH ROW EXECUTE FUNCTION extra()"#)
        }
        #expect(Self.refusal { _ = try vault.open() } == .foreignSchemaObject("extra"))
    }

    @Test func aTableThatIsMovedThereIsRefused() throws {
        let vault = try ServerVault()
        try vault.sql("CREATE SCHEMA elsewhere")
        try vault.sql("CREATE TABLE elsewhere.extra (id int)")
        try vault.sql("ALTER TABLE elsewhere.extra SET SCHEMA \(vault.address.schema)")
        #expect(Self.refusal { _ = try vault.open() } == .foreignSchemaObject("extra"))
    }

    @Test(arguments: [
        #"ALTER TABLE "login" ADD COLUMN "extra" bigint GENERATED ALWAYS AS ("id" + 1) STORED"#,
        #"ALTER TABLE "login" ADD COLUMN "extra" bigint DEFAULT pg_backend_pid()"#,
    ])
    func whatComputesWhenARowIsWrittenIsRefused(_ command: String) throws {
        let vault = try ServerVault()
        try vault.sql(command)
        #expect(Self.refusal { _ = try vault.open() } == .foreignSchemaObject("login.extra"))
    }

    @Test func aNewerSchemaAndAMissingTableAreRefused() async throws {
        let vault = try ServerVault()
        try vault.sql(#"DROP TABLE "backup""#)
        #expect(Self.refusal { _ = try vault.open() } == .damaged)
        let newer = try ServerVault()
        try newer.sql(#"INSERT INTO "migration" VALUES (5, 'p005', 0, 0, 1)"#)
        #expect(Self.refusal { _ = try newer.open() } == .newerSchema(found: 5, known: 4))
        // Also by the process that has it open.
        await #expect { try await newer.store.insertLogin(newer.draft("alice")) } throws: {
            ($0 as? StoreError)?.code == .newerSchema(found: 5, known: 4)
        }
    }

    @Test func anOlderVaultIsBroughtUpToDateOnDemand() async throws {
        let vault = try ServerVault()
        _ = try await vault.store.insertLogin(vault.draft("alice"))
        vault.store.close()
        try vault.sql(#"DROP TABLE "manifestPart", "observer""#)
        try vault.sql(#"DELETE FROM "migration" WHERE "version" > 1"#)
        #expect(Self.refusal { _ = try vault.open() } == .migrationNeeded(found: 1, known: 4))
        let migrated = try vault.open(migrate: true)
        defer { migrated.close() }
        let drafts = (0..<70).map { _ in vault.draft("alice") }
        for draft in drafts { _ = try await migrated.insertLogin(draft) }
        #expect(try await migrated.user("alice").logins.count == 71)
        #expect(try await migrated.verify().findings == [])
    }

    /// One that has just written does not go on with tables that it does not know.
    @Test func whoHasTheVaultOpenLearnsOfAMigrationAtOnce() async throws {
        let vault = try ServerVault()
        defer { vault.store.close() }
        _ = try await vault.store.insertLogin(vault.draft("alice"))
        let connection = try vault.connect()
        defer { connection.close() }
        var migrator = ServerMigrator(connection: connection, address: vault.address)
        migrator.migrations.append(
            Migration(
                version: SchemaVersion.known + 1, name: "later", sql: "ALTER TABLE \"login\" ADD \"later\" bigint;\n"))
        try migrator.migrate(at: ServerVault.now)
        await #expect { try await vault.store.insertLogin(vault.draft("bob")) } throws: {
            ($0 as? StoreError)?.code == .newerSchema(found: SchemaVersion.known + 1, known: SchemaVersion.known)
        }
        #expect(try vault.sql(#"SELECT count(*) FROM "login""#).integer(0, 0) == 1)
    }

    @Test func theDescriptionOfTheTablesIsWhatTheMigrationsMake() throws {
        let vault = try ServerVault()
        let answer = try vault.sql(
            """
            SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL)::text, a.attnotnull::int::int8
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = '\(vault.address.schema)' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
            """)
        let found = Set(
            (0..<answer.rowCount).map { row in
                "\(answer.text(row, 0)).\(answer.text(row, 1)) \(answer.text(row, 2)) \(answer.integer(row, 3))"
            })
        let described = Set(
            Table.allCases.flatMap { table in
                ["\(table.rawValue).\(table.key) bigint 1"]
                    + table.fields.map { field in
                        let type =
                            switch field.type {
                            case .integer: "bigint"
                            case .bytes: "bytea"
                            case .text: "text"
                            }
                        return "\(table.rawValue).\(field.name) \(type) \(field.isOptional ? 0 : 1)"
                    }
            })
        let own = found.filter { $0.hasPrefix("engineState.") || $0.hasPrefix("process.") }
        #expect(found.subtracting(own) == described)
    }
}
