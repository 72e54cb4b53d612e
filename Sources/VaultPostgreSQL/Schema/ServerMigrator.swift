import VaultMigrations
import VaultStorage

/// Creates and migrates the vault's tables. Forward only; each step and its record are one transaction, and of several
/// concurrent processes each checks again once it has the lock.
struct ServerMigrator {
    let connection: ServerConnection
    let address: ServerAddress
    var migrations = Migrations.postgreSQL

    /// The applied and the pending steps.
    func status() throws(StoreError) -> [MigrationStep] {
        var applied: [Int: Timestamp] = [:]
        if try ServerSchema(address.schema).content(connection) == .vault {
            let answer = try connection.answer(to: connection.send(Self.applied))
            for row in 0..<answer.rowCount {
                applied[Int(answer.integer(row, 0))] = Timestamp(milliseconds: answer.integer(row, 1))
            }
        }
        return migrations.map { MigrationStep(version: $0.version, name: $0.name, appliedAt: applied[$0.version]) }
    }

    /// Applies pending steps in the open transaction.
    func apply(after version: Int, at now: Timestamp) throws(StoreError) {
        for migration in migrations where migration.version > version {
            try run(migration)
            try connection.send(
                Self.record,
                Parameters([
                    .integer(Int64(migration.version)), .text(migration.name), .integer(migration.checksum),
                    .integer(now.milliseconds),
                ]))
        }
        try connection.sync()
    }

    /// Runs one step, without its record.
    func run(_ migration: Migration) throws(StoreError) {
        for command in Self.commands(of: migration.sql) { try connection.send(Statement(command, isKept: false)) }
    }

    /// Migrates the vault.
    func migrate(at now: Timestamp) throws(StoreError) {
        try connection.send(Self.begin)
        do throws(StoreError) {
            try lock()
            let done = try status().last { $0.appliedAt != nil }?.version ?? 0
            guard done > 0 else {
                throw StoreError(.vaultMissing, "there is no vault in the schema \(address.schema)")
            }
            if migrations.contains(where: { $0.version > done }) {
                try connection.send(Self.lockAndCount)
                try apply(after: done, at: now)
            }
            try connection.send(Self.commit)
            try connection.sync()
        } catch {
            _ = try? connection.send(Self.rollBack)
            try? connection.sync()
            throw error
        }
    }

    /// Creates the schema, if it is missing and the role may create one. Refuses a schema that holds anything.
    func makeSchema() throws(StoreError) {
        let schema = ServerSchema(address.schema)
        if try !schema.exists(connection) {
            // The name consists of letters, digits and underscores.
            try connection.send(Statement("CREATE SCHEMA \(address.schema)", isKept: false))
            try connection.sync()
        }
        switch try schema.content(connection) {
        case .nothing: return
        case .vault:
            throw StoreError(
                .vaultExists, "there is already a vault in the schema \(address.schema)",
                hint: "choose another schema; nothing is overwritten")
        case .other:
            throw StoreError(
                .vaultExists, "the schema \(address.schema) holds tables already",
                hint: "choose another schema; nothing is overwritten")
        }
    }

    /// Held until the transaction ends. Only one of this database's vaults is created or migrated at a time.
    func lock() throws(StoreError) {
        try connection.send(Self.take)
        try connection.sync()
    }

    /// The commands of a file: each ends with a semicolon at the end of a line.
    static func commands(of sql: String) -> [String] {
        sql.split(separator: ";\n").map { part in
            String(part.drop { $0.isWhitespace }).trimmingSuffix()
        }.filter { !$0.isEmpty }
    }

    private static let begin = Statement("BEGIN")
    private static let commit = Statement("COMMIT")
    private static let rollBack = Statement("ROLLBACK")
    private static let take = Statement("SELECT pg_advisory_xact_lock(8389754676633367137)")
    /// As for a change of the vault: writers wait, and a process that has the vault open checks everything again
    /// afterwards, including the schema's version.
    private static let lockAndCount = Statement(
        #"UPDATE "engineState" SET "changeCount" = "changeCount" + 1 WHERE "id" = 1"#)
    private static let applied = Statement(#"SELECT "version", "appliedAt" FROM "migration""#)
    private static let record = Statement(
        #"INSERT INTO "migration" ("version", "name", "checksum", "appliedAt") VALUES ($1, $2, $3, $4)"#,
        [.integer, .text, .integer, .integer])
}

extension String {
    fileprivate func trimmingSuffix() -> String {
        var text = self[...]
        while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
        return String(text)
    }
}
