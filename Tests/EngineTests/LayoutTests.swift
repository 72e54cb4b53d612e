import Testing

@testable import VaultSQLite
@testable import VaultStorage

/// The description of the tables is what SQLite's migrations make.
struct LayoutTests {
    private struct Found: Hashable {
        var name: String
        var type: String
        var isOptional: Bool
        var isUnique = false
        var reference: String?
    }

    @Test(arguments: Table.allCases)
    func theDescriptionIsWhatTheMigrationsMake(table: Table) throws {
        let connection = try SQLiteEngine().connection
        let (found, key) = try columns(of: table, connection)
        #expect(key == table.key)
        let described = table.fields.map { field in
            Found(
                name: field.name, type: Self.type(field.type), isOptional: field.isOptional, isUnique: field.isUnique,
                reference: field.reference.map { "\($0.table.rawValue).\($0.name)" })
        }
        var all = Set(described)
        all.insert(
            Found(
                name: table.key, type: "INTEGER", isOptional: true,
                reference: table.keyReference.map { "\($0.table.rawValue).\($0.name)" }))
        #expect(found == all)
    }

    /// Only the mark that tells files of SQLite apart is SQLite's own.
    @Test func noTableIsLeftOut() {
        let tables = Set(VaultSchema.current.tables)
        #expect(tables.subtracting(Table.allCases.map(\.rawValue)) == ["walMark", "sqlite_sequence"])
        #expect(tables.isSuperset(of: Table.allCases.map(\.rawValue)))
    }

    private static func type(_ type: Table.FieldType) -> String {
        switch type {
        case .integer: "INTEGER"
        case .bytes: "BLOB"
        case .text: "TEXT"
        }
    }

    private func columns(of table: Table, _ connection: Connection) throws -> (Set<Found>, key: String) {
        var unique: Set<String> = []
        let indexes = try Statement(connection, "PRAGMA index_list(\(table.rawValue))")
        while try indexes.step() {
            guard indexes.integer(2) == 1 else { continue }
            let columns = try Statement(connection, "PRAGMA index_info(\(indexes.text(1)))")
            var names: [String] = []
            while try columns.step() { names.append(columns.text(2)) }
            if names.count == 1 { unique.formUnion(names) }
        }
        var references: [String: String] = [:]
        let keys = try Statement(connection, "PRAGMA foreign_key_list(\(table.rawValue))")
        while try keys.step() { references[keys.text(3)] = "\(keys.text(2)).\(keys.text(4))" }
        var found: Set<Found> = []
        var key = ""
        let columns = try Statement(connection, "PRAGMA table_info(\(table.rawValue))")
        while try columns.step() {
            let name = columns.text(1)
            if columns.integer(5) == 1 { key = name }
            found.insert(
                Found(
                    name: name, type: columns.text(2), isOptional: columns.integer(3) == 0,
                    isUnique: unique.contains(name), reference: references[name]))
        }
        return (found, key)
    }
}
