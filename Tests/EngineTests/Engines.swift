import TokenVaultTesting
import VaultMigrations

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
