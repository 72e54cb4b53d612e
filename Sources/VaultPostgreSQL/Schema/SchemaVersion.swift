import VaultMigrations
import VaultStorage

/// The version of the vault's tables.
enum SchemaVersion {
    static var known: Int { Migrations.postgreSQL.last?.version ?? 0 }

    static func read(_ connection: ServerConnection) throws(StoreError) -> Int {
        Int(try connection.answer(to: ask(connection)).integer(0, 0))
    }

    /// Sends the query without waiting.
    static func ask(_ connection: ServerConnection) throws(StoreError) -> Command {
        try connection.send(question)
    }

    /// Refuses tables whose version is not this program's.
    static func check(_ connection: ServerConnection) throws(StoreError) { try check(read(connection)) }

    static func check(_ answer: ResultSet) throws(StoreError) { try check(Int(answer.integer(0, 0))) }

    private static func check(_ found: Int) throws(StoreError) {
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
