import Synchronization
import TestSupport
import VaultSQLite

/// Write access to a vault's tables without a key, whatever keeps them. Names stand in double quotes, which both engines
/// understand.
package struct TableIntruder: Sendable {
    private enum Home: Sendable {
        case file(Intruder)
        case server(ServerIntruder)
    }

    private let home: Home

    /// - Parameter place: the path of a vault's file, or a connection string.
    package init(_ place: String) throws {
        home = try ServerIntruder.knows(place) ? .server(ServerIntruder(place)) : .file(Intruder(path: place))
    }

    /// Runs statements, one after the other, without a look at foreign keys.
    package func execute(_ statements: String...) throws {
        switch home {
        case .file(let file): try file.execute((["PRAGMA foreign_keys = 0"] + statements).joined(separator: ";"))
        case .server(let server): try server.execute(statements)
        }
    }

    /// The first value of the first row.
    package func text(_ sql: String) throws -> String? {
        switch home {
        case .file(let file): try file.text(sql)
        case .server(let server): try server.text(sql)
        }
    }

    /// Overwrites the bytes of a column with zeros.
    package func blank(_ table: String, _ column: String, where condition: String = "true") throws {
        let zeros =
            switch home {
            case .file: "zeroblob(length(\"\(column)\"))"
            case .server: "decode(repeat('00', length(\"\(column)\")), 'hex')"
            }
        try execute("UPDATE \"\(table)\" SET \"\(column)\" = \(zeros) WHERE \(condition)")
    }

    /// Changes one bit of a value: of a number, or of the byte in the middle or at the end of a blob.
    package func flip(_ table: String, _ column: String, row: Int64, atEnd: Bool) throws {
        switch home {
        case .file(let file): try file.flip(table, column, row: row, atEnd: atEnd)
        case .server(let server): try server.flip(table, column, row: row, atEnd: atEnd)
        }
    }

    /// The names of a table's columns that hold something in this row.
    package func columns(of table: String, row: Int64) throws -> [String] {
        switch home {
        case .file(let file): try file.columns(of: table, row: row)
        case .server(let server): try server.columns(of: table, row: row)
        }
    }

    // MARK: Former states

    /// Keeps the rows of these tables, or of all, so that they can be put back.
    ///
    /// - Parameter moment: a name for it, if there are several.
    package func keepRows(of tables: [String]? = nil, at moment: String = "") throws {
        switch home {
        case .file(let file):
            let statements = try Self.attached(file, tables, moment) { names in
                names.map { "CREATE TABLE kept.\($0) AS SELECT * FROM main.\($0)" }
            }
            try file.execute(statements)
        case .server(let server): try server.keepRows(of: tables, at: moment)
        }
    }

    /// Puts back the rows that were kept. For a vault that no process has open.
    package func restoreRows(of tables: [String]? = nil, from moment: String = "") throws {
        switch home {
        case .file(let file):
            let statements = try Self.attached(file, tables, moment) { names in
                names.flatMap { ["DELETE FROM main.\($0)", "INSERT INTO main.\($0) SELECT * FROM kept.\($0)"] }
            }
            try file.execute(statements)
        case .server(let server): try server.restoreRows(of: tables, from: moment)
        }
    }

    /// Statements on tables of the vault's file and of one beside it.
    private static func attached(
        _ file: Intruder, _ tables: [String]?, _ moment: String, _ statements: ([String]) -> [String]
    ) throws -> String {
        let all = "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        let names = try tables ?? (file.text(all) ?? "").split(separator: ",").map(String.init)
        let beginning = ["PRAGMA foreign_keys = 0", "ATTACH '\(file.path).kept\(moment)' AS kept"]
        return (beginning + statements(names.map { "\"\($0)\"" })).joined(separator: ";")
    }

    // MARK: The schema

    /// That of this program.
    package var schemaVersion: Int {
        switch home {
        case .file: SQLiteVaultStore.schemaVersion
        case .server: ServerIntruder.schemaVersion
        }
    }

    /// As a later version of the program does.
    package func setSchemaVersion(_ version: Int) throws {
        switch home {
        case .file(let file): try file.execute("PRAGMA user_version = \(version)")
        case .server(let server): try server.setSchemaVersion(version)
        }
    }

    /// One that deletes the audit trail after each change.
    package func addTrigger(on table: String) throws {
        switch home {
        case .file(let file):
            try file.execute("CREATE TRIGGER spy AFTER UPDATE ON \(table) BEGIN DELETE FROM audit; END")
        case .server(let server): try server.addTrigger(on: table)
        }
    }

    // MARK: The lock

    /// Nothing else can change the vault until the lock is released.
    package func lockForWriting() throws -> HeldLock {
        switch home {
        case .file(let file): try HeldLock(file.lockForWriting())
        case .server(let server): try server.lockForWriting()
        }
    }
}

/// A write lock, held for as long as this lives.
package final class HeldLock: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    package func release() { end.withLock { $0.take() }?() }

    deinit { release() }
}
