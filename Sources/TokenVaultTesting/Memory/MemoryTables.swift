import Synchronization
import VaultMigrations
package import VaultStorage

/// The tables of a vault in memory, shared by all transactions of all processes in a test.
package final class MemoryDatabase: Sendable {
    private let state = Mutex(MemoryState())
    /// Held by the only transaction that may change something.
    private let writing = Mutex(())
    /// The action to run before a query.
    private let interruption = Mutex<(queriesLeft: Int, body: @Sendable () -> Void)?>(nil)
    /// The processes that may have work in progress in the vault.
    package let owners = MemoryOwners()

    package init() {}

    /// The last committed state.
    package internal(set) var current: MemoryState {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Runs an action before one of the next queries outside a snapshot or a transaction: for example a commit of
    /// another process between two queries of one read.
    ///
    /// - Parameter count: The number of such queries before it.
    package func interrupt(after count: Int, _ body: @escaping @Sendable () -> Void) {
        interruption.withLock { $0 = (count, body) }
    }

    /// Cancels the request of ``interrupt(after:_:)``. False if it has already run.
    package func cancelInterruption() -> Bool {
        interruption.withLock { interruption in
            defer { interruption = nil }
            return interruption != nil
        }
    }

    /// The last committed state, for a query outside a transaction.
    fileprivate var newest: MemoryState {
        let body = interruption.withLock { interruption -> (@Sendable () -> Void)? in
            guard let (left, body) = interruption else { return nil }
            interruption = left > 0 ? (left - 1, body) : nil
            return left > 0 ? nil : body
        }
        body?()
        return current
    }

    /// For one reader at a time.
    package func reader() -> any TableAccess { MemoryTables(self, isWriter: false) }

    /// For one writer at a time; see ``write(_:_:)``.
    func writer() -> MemoryTables { MemoryTables(self, isWriter: true) }

    /// Runs `body` as one transaction. An error that it throws undoes all its changes.
    package func write<R>(_ body: (any TableAccess) throws -> R) throws -> R { try write(writer(), body) }

    func write<R>(_ tables: MemoryTables, _ body: (any TableAccess) throws -> R) throws -> R {
        var outcome: Result<R, any Error>?
        writing.withLock { _ in
            tables.state = current
            defer { tables.state = nil }
            outcome = Result { try body(tables) }
            if case .success? = outcome, let changed = tables.state { current = changed }
        }
        guard let outcome else { throw StoreError(.closed, "the transaction never ran") }
        return try outcome.get()
    }
}

/// The processes that have a vault in memory open.
package final class MemoryOwners: Sendable {
    private struct State {
        var last: Int64 = 0
        var living: Set<Int64> = []
        var liveness: (@Sendable (Int64) -> Bool)?
    }

    private let state = Mutex(State())

    func enter() -> Int64 {
        state.withLock { state in
            state.last += 1
            state.living.insert(state.last)
            return state.last
        }
    }

    /// Notes that the process has ended, or has lost its proof of life.
    package func leave(_ owner: Int64) { state.withLock { _ = $0.living.remove(owner) } }

    package func isAlive(_ owner: Int64) -> Bool {
        let (liveness, isKnown) = state.withLock { ($0.liveness, $0.living.contains(owner)) }
        return liveness?(owner) ?? isKnown
    }

    /// Sets the function that decides which processes are alive. Its result may depend on the process that asks.
    package func decideLiveness(by liveness: @escaping @Sendable (Int64) -> Bool) {
        state.withLock { $0.liveness = liveness }
    }
}

/// One process's access to the tables: each query of a reader sees the last committed state; queries of a snapshot or a
/// transaction see the state that was committed when it began.
final class MemoryTables: TableAccess {
    private let database: MemoryDatabase
    private let isWriter: Bool
    private var cursors: [Query: MemoryCursor] = [:]
    /// The state of the open snapshot or transaction.
    fileprivate(set) var state: MemoryState?
    private(set) var lastInsertedRow: Int64 = 0
    private(set) var changeCount = 0

    init(_ database: MemoryDatabase, isWriter: Bool) {
        self.database = database
        self.isWriter = isWriter
    }

    func cursor(_ query: Query) throws(StoreError) -> any RowCursor {
        if let known = cursors[query] { return known }
        let cursor = MemoryCursor(query, of: self)
        cursors[query] = cursor
        return cursor
    }

    func run(
        _ query: Query, _ parameters: [Int32: MemoryValue]
    ) throws(StoreError) -> AnyIterator<[MemoryValue]> {
        if case .select(let selection) = query.operation {
            return (state ?? database.newest).select(selection, parameters)
        }
        guard isWriter, var changed = state else {
            throw StoreError(.readOnly, "a reader cannot change the vault")
        }
        changeCount = try change(&changed, query.operation, parameters)
        state = changed
        return AnyIterator { nil }
    }

    /// Returns the number of changed rows.
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

    /// The same as in a file: these tables have no migrations of their own.
    var migrations: [Migration] { Migrations.all }

    /// Does nothing, because each step takes effect immediately.
    func settle() {}

    func highestFence() throws(StoreError) -> Int64 { (state ?? database.current).highestFence }

    func setHighestFence(_ fence: Int64) throws(StoreError) { state?.highestFence = fence }

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

    /// There is no storage below the rows.
    func checkStorage(_ findings: any StorageFindings) throws(StoreError) {}

    func isOwnerAlive(_ owner: Int64) -> Bool { database.owners.isAlive(owner) }

    func facts() throws(StoreError) -> EngineReport {
        EngineReport(
            kind: .memory, schemaVersion: 0, byteCount: 0, version: "memory", sourceID: "", canLoseCommits: false)
    }

    /// Does nothing, because no task waits for the end of a read.
    func expectManyChanges() {}

    var changeMark: Int64? { nil }

    func longReading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R { try body() }

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
