import CSQLite
import VaultMigrations

/// What a vault's schema must be, to the letter. A trigger or view that somebody else has put into the file would run
/// inside our connection.
struct VaultSchema: Equatable, Sendable {
    struct Object: Hashable, Sendable {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    let objects: Set<Object>

    init(of connection: Connection) throws(StoreError) {
        let rows = try Statement(
            connection, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
        var objects: Set<Object> = []
        while try rows.step() {
            objects.insert(Object(type: rows.text(0), name: rows.text(1), table: rows.text(2), sql: rows.text(3)))
        }
        self.objects = objects
    }

    private static let current: Result<VaultSchema, StoreError> = {
        do throws(StoreError) {
            return .success(try VaultSchema(after: Migrations.all))
        } catch {
            return .failure(error)
        }
    }()

    /// What this version's vaults have.
    static func expected() throws(StoreError) -> VaultSchema { try current.get() }

    var tables: [String] { objects.filter { $0.type == "table" }.map(\.name).sorted() }

    /// What the steps make of an empty vault.
    init(after migrations: [Migration]) throws(StoreError) {
        let connection = try Connection(path: ":memory:", access: .memory)
        for migration in migrations { try connection.execute(migration.sql) }
        try self.init(of: connection)
    }

    /// Refuses a file that is no vault, a newer vault, an unmigrated one, and one with a foreign object in it.
    static func check(_ connection: Connection, migrations: [Migration] = Migrations.all) throws(StoreError) {
        let known = migrations.last?.version ?? 0
        let found = try version(of: connection)
        if found < known {
            throw StoreError(
                .migrationNeeded(found: found, known: known),
                "the vault has schema version \(found), and this version needs \(known)",
                hint: "run `vaultctl migrate up`, which keeps a copy of the vault as it is")
        }
        try check(connection, is: try expected())
    }

    /// The schema's version, after it is known that the file is a vault and not newer than this version knows.
    static func version(
        of connection: Connection, known: Int = Migrations.all.last?.version ?? 0
    ) throws(StoreError) -> Int {
        guard try connection.integer("PRAGMA application_id") == Connection.applicationID else {
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

    static func check(_ connection: Connection, is expected: VaultSchema) throws(StoreError) {
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
