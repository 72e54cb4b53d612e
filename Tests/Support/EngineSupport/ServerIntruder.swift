import Foundation
import VaultMigrations
import VaultStorage

@testable import VaultPostgreSQL

/// Write access to a vault's schema on a server, by a role that may do everything.
struct ServerIntruder: Sendable {
    private let address: ServerAddress

    init(_ connection: String) throws { address = try ServerAddress(connection) }

    static func knows(_ place: String) -> Bool { ServerAddress.isOne(place) }

    func execute(_ statements: [String]) throws {
        let connection = try connect()
        defer { connection.close() }
        for statement in statements { _ = try run(statement, on: connection) }
    }

    func text(_ sql: String) throws -> String? {
        let connection = try connect()
        defer { connection.close() }
        // Of any type, as text.
        let answer = try run("SELECT v::text FROM (\(sql)) AS t(v)", on: connection)
        return answer.rowCount > 0 && !answer.isNull(0, 0) ? answer.text(0, 0) : nil
    }

    func columns(of table: String, row: Int64) throws -> [String] {
        try columns().filter { $0.table == table }.map(\.name).filter {
            try text("SELECT \"\($0)\" IS NOT NULL FROM \(place(table, row))") == "true"
        }
    }

    private struct Column {
        let table: String
        let name: String
        let isBytes: Bool
    }

    private func columns() throws -> [Column] {
        let answer = try text(
            """
            SELECT string_agg(concat_ws(' ', table_name, column_name, data_type), ','
                ORDER BY table_name, ordinal_position)
            FROM information_schema.columns WHERE table_schema = current_schema()
            """)
        return (answer ?? "").split(separator: ",").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            return words.count < 3 ? nil : Column(table: words[0], name: words[1], isBytes: words[2] == "bytea")
        }
    }

    /// Everything that the columns hold, as bytes; of those that hold something.
    func content() throws -> [(name: String, content: Data)] {
        let connection = try connect()
        defer { connection.close() }
        return try columns().compactMap { column in
            let name = "\"\(column.name)\""
            let value = column.isBytes ? name : "convert_to(\(name)::text, 'UTF8')"
            let answer = try run("SELECT string_agg(\(value), ''::bytea) FROM \"\(column.table)\"", on: connection)
            guard !answer.isNull(0, 0) else { return nil }
            return unsafe ("\(column.table).\(column.name)", Data(answer.bytes(0, 0)))
        }
    }

    func flip(_ table: String, _ column: String, row: Int64, atEnd: Bool) throws {
        let place = "FROM \(place(table, row))"
        let name = "\"\(column)\""
        let change =
            switch try text("SELECT pg_typeof(\(name)) \(place)") {
            // A row's number must not become that of another row: then it is the other one that is damaged.
            case "bigint": "\(name) # (\(atEnd ? "64" : "1::int8 << 60"))"
            case "bytea":
                "set_byte(\(name), \(position(name, atEnd)), get_byte(\(name), \(position(name, atEnd))) # 4)"
            default:
                "overlay(\(name) PLACING 'x' FROM \(atEnd ? "length(\(name))" : "greatest(1, length(\(name)) / 2)"))"
            }
        try execute(["UPDATE \"\(table)\" SET \(name) = \(change) \(condition(table, row))"])
    }

    private func place(_ table: String, _ row: Int64) -> String { "\"\(table)\" \(condition(table, row))" }

    private func condition(_ table: String, _ row: Int64) -> String {
        "WHERE \"\(Table(rawValue: table)?.key ?? "id")\" = \(row)"
    }

    /// Keeps rows in a schema beside the vault's.
    func keepRows(of tables: [String]?, at moment: String) throws {
        let kept = kept(moment)
        try execute(
            ["CREATE SCHEMA \(kept)"]
                + names(tables).map { "CREATE TABLE \(kept).\($0) AS SELECT * FROM \($0)" })
    }

    func restoreRows(of tables: [String]?, from moment: String) throws {
        let kept = kept(moment)
        try execute(
            names(tables).flatMap {
                ["DELETE FROM \($0)", "INSERT INTO \($0) OVERRIDING SYSTEM VALUE SELECT * FROM \(kept).\($0)"]
            })
    }

    private func kept(_ moment: String) -> String { address.schema + "_kept" + moment }

    private func names(_ tables: [String]?) throws -> [String] {
        try (tables ?? Set(columns().map(\.table)).sorted()).map { "\"\($0)\"" }
    }

    static var schemaVersion: Int { SchemaVersion.known }

    /// - Parameter version: at least that of this program.
    func setSchemaVersion(_ version: Int) throws {
        let known = SchemaVersion.known
        try execute([
            "DELETE FROM \"migration\" WHERE \"version\" > \(known)",
            """
            INSERT INTO "migration" SELECT (jsonb_populate_record(m, '{"version": \(version)}')).* FROM "migration" m
            WHERE "version" = \(known) AND \(version) > \(known)
            """,
            #"UPDATE "engineState" SET "changeCount" = "changeCount" + 1"#,
        ])
    }

    func addTrigger(on table: String) throws {
        try execute([
            "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM audit; RETURN NULL; END'",
            "CREATE TRIGGER spy AFTER UPDATE ON \"\(table)\" FOR EACH ROW EXECUTE FUNCTION spy()",
        ])
    }

    /// Holds what each writer takes first, until the given lock is released.
    func lockForWriting() throws -> HeldLock {
        let connection = try connect()
        for statement in [
            "SET idle_in_transaction_session_timeout = 0", "BEGIN", #"SELECT 1 FROM "engineState" FOR UPDATE"#,
        ] { _ = try run(statement, on: connection) }
        return HeldLock { connection.close() }
    }

    private func position(_ name: String, _ atEnd: Bool) -> String {
        atEnd ? "length(\(name)) - 1" : "greatest(0, length(\(name)) / 2 - 1)"
    }

    private func connect() throws -> ServerConnection {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        // Foreign keys and triggers do nothing for a session that plays the part of a replica.
        _ = try run("SET session_replication_role = replica", on: connection)
        return connection
    }

    private func run(_ sql: String, on connection: ServerConnection) throws -> ResultSet {
        let command = try connection.send(Statement(sql, isKept: false))
        try connection.sync()
        return try connection.answer(to: command)
    }
}
