import Synchronization
package import VaultStorage

/// The tables of a vault in memory, of which all transactions of all processes in a test know.
package final class MemoryDatabase: Sendable {
    private let state = Mutex(MemoryState())

    package init() {}

    var current: MemoryState {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// For one reader at a time.
    package func reader() -> any TableAccess { MemoryTables(self, isWriter: false) }

    /// Runs `body` as one transaction. What it throws undoes all that it did. Two at once are not for this database: who
    /// uses it has one writer.
    package func write<R>(_ body: (any TableAccess) throws -> R) rethrows -> R {
        let tables = MemoryTables(self, isWriter: true)
        tables.state = current
        let result = try body(tables)
        if let changed = tables.state { current = changed }
        return result
    }
}

/// One way to the tables: each query of a reader sees what was committed last, those of a snapshot or a transaction
/// what was committed when it began.
final class MemoryTables: TableAccess {
    private let database: MemoryDatabase
    private let isWriter: Bool
    private var cursors: [ObjectIdentifier: (query: Query, cursor: MemoryCursor)] = [:]
    /// Of the snapshot or transaction that is open.
    fileprivate(set) var state: MemoryState?
    private(set) var lastInsertedRow: Int64 = 0
    private(set) var changeCount = 0

    init(_ database: MemoryDatabase, isWriter: Bool) {
        self.database = database
        self.isWriter = isWriter
    }

    func cursor(_ query: Query) throws(StoreError) -> any RowCursor {
        if let known = cursors[ObjectIdentifier(query)] { return known.cursor }
        let cursor = MemoryCursor(query, of: self)
        cursors[ObjectIdentifier(query)] = (query, cursor)
        return cursor
    }

    func run(_ query: Query, _ parameters: [Int32: MemoryValue]) throws(StoreError) -> [[MemoryValue]] {
        if case .select(let selection) = query.operation {
            return (state ?? database.current).select(selection, parameters)
        }
        guard isWriter, var changed = state else {
            throw StoreError(.readOnly, "a reader cannot change the vault")
        }
        changeCount = try change(&changed, query.operation, parameters)
        state = changed
        return []
    }

    /// Gives how many rows were changed.
    private func change(
        _ state: inout MemoryState, _ operation: Query.Operation, _ parameters: [Int32: MemoryValue]
    ) throws(StoreError) -> Int {
        switch operation {
        case .select: return 0
        case .insert(let table, let columns, let conflict):
            let row = Self.row(columns, first: 1, parameters)
            return try insert(row, into: table, conflict, &state)
        case .update(let table, let columns, let first, let conditions):
            let keys = state.keys(in: table, where: conditions, parameters)
            let row = Self.row(columns, first: first, parameters)
            for key in keys { try state.update(table, key, row) }
            return keys.count
        case .delete(let table, let conditions):
            let keys = state.keys(in: table, where: conditions, parameters)
            for key in keys { try state.delete(table, key) }
            return keys.count
        }
    }

    private static func row(
        _ columns: [String], first: Int32, _ parameters: [Int32: MemoryValue]
    ) -> MemoryState.Row {
        var row: MemoryState.Row = [:]
        for (column, parameter) in zip(columns, first...) { row[column] = parameters[parameter] ?? .null }
        return row
    }

    private func insert(
        _ row: MemoryState.Row, into table: Table, _ conflict: Query.Conflict, _ state: inout MemoryState
    ) throws(StoreError) -> Int {
        try state.requireFits(row, table)
        switch conflict {
        case .updates(let column):
            if let key = state.firstKey(in: table, where: column, is: row[column] ?? .null) {
                try state.update(table, key, row.filter { $0.key != column })
                return 1
            }
        case .keeps:
            if state.isTaken(row, in: table) { return 0 }
        case .fails: break
        }
        lastInsertedRow = try state.insert(row, into: table)
        return 1
    }

    func highestFence() throws(StoreError) -> Int64 { (state ?? database.current).highestFence }

    func rawRows(of table: Table, where column: String, is number: Int64) throws(StoreError) -> [RawRow] {
        let state = state ?? database.current
        return state.keys(in: table, where: column, is: .integer(number)).compactMap { key in
            guard let row = state[table][key], row[column] == .integer(number) else { return nil }
            return RawRow(
                table: table.rawValue,
                columns: ([table.key] + table.fields.map(\.name)).map { name in
                    RawRow.Column(name: name, value: (row[name] ?? .null).raw)
                })
        }
    }

    /// The layout of these tables is always this program's.
    func checkSchema() throws(StoreError) {}

    func facts() throws(StoreError) -> EngineFacts {
        EngineFacts(schemaVersion: 0, byteCount: 0, version: "memory", sourceID: "", canLoseCommits: false)
    }

    func snapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        if state != nil { return try body() }
        state = database.current
        defer { state = nil }
        return try body()
    }
}

extension MemoryValue {
    fileprivate var raw: RawRow.Value {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .text(let bytes): .text(bytes)
        case .bytes(let bytes): .blob(bytes)
        }
    }
}
