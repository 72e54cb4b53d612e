import VaultMigrations
import VaultStorage

/// Which version the vault's tables have.
enum SchemaVersion {
    static var known: Int { Migrations.postgreSQL.last?.version ?? 0 }

    static func read(_ connection: ServerConnection) throws(StoreError) -> Int {
        Int(try connection.answer(to: connection.send(question)).integer(0, 0))
    }

    /// Refuses tables that are not those of this program.
    static func check(_ connection: ServerConnection) throws(StoreError) {
        let found = try read(connection)
        if found == known { return }
        if found < known {
            throw StoreError(
                .migrationNeeded(found: found, known: known),
                "the vault has schema version \(found), and this version needs \(known)",
                hint: "run: vaultctl migrate up")
        }
        throw StoreError(
            .newerSchema(found: found, known: known),
            "the vault has schema version \(found), and this version knows only \(known)",
            hint: "use the version of TokenVault that wrote it, or a later one")
    }

    private static let question = Statement(#"SELECT COALESCE(max("version"), 0)::int8 FROM "migration""#)
}
