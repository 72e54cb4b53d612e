import CSQLite
import Platform
package import VaultStorage

/// Another program's database, read in one read transaction and never written.
///
/// It may be in use. It is opened read-only and never as `immutable`, so a writer's changes in the WAL are visible.
/// Nothing of its schema runs: no trigger, no view, no function of its own. Used by one thread at a time.
package final class ForeignDatabase {
    private let connection: Connection

    /// The first bytes of every SQLite database file.
    package static let magic = Array("SQLite format 3\0".utf8)

    package init(path: String) throws(StoreError) {
        // SQLite refuses symbolic links here, and other programs' paths are full of them.
        guard let path = NamedFile(path).resolved else {
            throw StoreError(.io(SQLITE_CANTOPEN), "the file cannot be opened")
        }
        try Self.refuseForeignFiles(beside: path, user: .current)
        connection = try Connection(path: path, access: .readOnly)
        try connection.prepareForInspection()
        for pragma in ["query_only = 1", "trusted_schema = 0", "cell_size_check = 1", "mmap_size = 0"] {
            try connection.execute("PRAGMA " + pragma)
        }
        guard try connection.integer("PRAGMA query_only") == 1 else {
            throw StoreError(.io(SQLITE_MISUSE), "SQLite did not accept the setting “query_only”")
        }
        try connection.execute("BEGIN")
    }

    deinit { connection.close() }

    /// To read a WAL database, SQLite creates the log and its index next to it if they are missing, and leaves them
    /// there. If a user other than the file's owner created them, the owner could not write to them: from then on every
    /// write of the other program would fail. Root gives the files to the file's owner.
    private static func refuseForeignFiles(beside path: String, user: UserID) throws(StoreError) {
        guard !user.isRoot, let status = try? FileStatus(at: path, followingLinks: true), status.owner != user,
            isWAL(path)
        else { return }
        for suffix in ["-wal", "-shm"] where !NamedFile(path + suffix).exists {
            throw StoreError(.unsafeFile, "SQLite would create files of another user next to the database")
        }
    }

    /// The versions for writing and for reading (https://sqlite.org/fileformat.html §1.3.3).
    private static func isWAL(_ path: String) -> Bool {
        let file = try? Descriptor(path, for: .reading, [.notOurTerminal, .withoutWaiting])
        guard let header = try? file?.read(atMost: 20, at: 0) else { return false }
        return header.count == 20 && header.starts(with: magic) && header[18...].contains(2)
    }

    package func count(of table: ForeignTable) throws(StoreError) -> Int {
        Int(try connection.integer("SELECT count(*) FROM \(Self.quoted(table.name))"))
    }

    /// The tables with their columns. Views and virtual tables are left out: reading them runs their authors' code.
    package func tables() throws(StoreError) -> [ForeignTable] {
        let list = try Statement(
            connection,
            """
            SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
            """)
        var names: [String] = []
        while try list.step() { names.append(list.text(0)) }
        var tables: [ForeignTable] = []
        for name in names {
            let columns = try Statement(connection, "SELECT name FROM pragma_table_info(?1) ORDER BY cid")
            columns.bind(1, name)
            var found: [String] = []
            while try columns.step() { found.append(columns.text(0)) }
            tables.append(ForeignTable(name: name, columns: found))
        }
        return tables
    }

    /// All rows of a table, or those with a given value in a column; ``ForeignCursor/look(for:)`` then sets the value.
    package func rows(
        of table: ForeignTable, columns: [String], where column: String? = nil
    ) throws(StoreError) -> ForeignCursor {
        let names = columns.map(Self.quoted).joined(separator: ", ")
        let condition = column.map { " WHERE \(Self.quoted($0)) = ?1 LIMIT 1" } ?? ""
        let sql = "SELECT \(names) FROM \(Self.quoted(table.name))\(condition)"
        return ForeignCursor(try connection.prepare(sql), columnCount: columns.count)
    }

    private static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

package struct ForeignTable: Hashable, Sendable {
    package let name: String
    package let columns: [String]

    package init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }
}
