import TestSupport
import TokenVaultTesting
import VaultMigrations

@testable import VaultPostgreSQL
@testable import VaultSQLite
@testable import VaultStorage

/// A database that keeps the tables, as tests use it: one thread, one transaction at a time.
protocol TestedEngine: AnyObject {
    static var name: String { get }
    init() throws
    var reader: any TableAccess { get }
    /// What `body` throws undoes what it did.
    func write<R>(_ body: (any TableAccess) throws -> R) throws -> R
}

final class SQLiteEngine: TestedEngine {
    static let name = "SQLite"

    let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:", access: .memory)
        try connection.execute("PRAGMA application_id = \(Connection.applicationID)")
        try connection.prepareForInspection()
        for migration in Migrations.all { try connection.execute(migration.sql) }
        try connection.execute("PRAGMA user_version = \(Migrations.all.count)")
    }

    var reader: any TableAccess { connection }

    func write<R>(_ body: (any TableAccess) throws -> R) throws -> R {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let result = try body(connection)
            try connection.execute("COMMIT")
            return result
        } catch {
            if !connection.isOutsideTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }
}

final class MemoryEngine: TestedEngine {
    static let name = "memory"

    let database = MemoryDatabase()
    let reader: any TableAccess

    init() throws { reader = database.reader() }

    func write<R>(_ body: (any TableAccess) throws -> R) throws -> R { try database.write(body) }
}

final class PostgreSQLEngine: TestedEngine {
    static let name = "PostgreSQL"

    let address: ServerAddress
    private let tables: ServerTables
    let reader: any TableAccess

    init() throws {
        address = try ServerAddress(PostgreSQLServer.shared().address(schema: PostgreSQLServer.newSchema()))
        tables = try Self.connect(address)
        let migrator = ServerMigrator(connection: tables.connection, address: address)
        try tables.make { () throws(StoreError) in
            try migrator.makeSchema()
            for migration in migrator.migrations { try migrator.run(migration) }
        }
        reader = try Self.connect(address)
    }

    private static func connect(_ address: ServerAddress) throws -> ServerTables {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        return ServerTables(connection, address, .unknown)
    }

    func write<R>(_ body: (any TableAccess) throws -> R) throws -> R {
        try tables.beginWriting()
        do {
            let result = try body(tables)
            try tables.settle()
            guard case .durable = tables.commit() else { throw StoreError.unreachable }
            return result
        } catch {
            tables.rollBack()
            throw error
        }
    }
}
