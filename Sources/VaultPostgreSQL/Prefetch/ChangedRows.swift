import VaultStorage

/// The rows that a transaction has changed so far, identified by their values: enough to see that an earlier result
/// still holds. In doubt it does not.
struct ChangedRows {
    private struct Cell: Hashable {
        let column: Column
        let value: Parameters.Value
    }

    /// Tables in which any row may have been changed.
    private var whole: Set<Table> = []
    /// Values that identified existing rows.
    private var touched: Set<Cell> = []
    private var touchedColumns: [Table: Set<Column>] = [:]
    /// Columns with new values in some rows, and the values that may identify those rows.
    private var writtenColumns: Set<Column> = []
    private var written: Set<Cell> = []
    /// Columns of existing rows.
    private var updatedColumns: Set<Column> = []
    /// Tables with new rows whose numbers the server has chosen.
    private var numbered: Set<Table> = []

    var isEmpty: Bool { whole.isEmpty && touchedColumns.isEmpty && writtenColumns.isEmpty }

    // MARK: Changes

    mutating func note(_ operation: Query.Operation, _ parameters: Parameters) {
        switch operation {
        case .select: return
        case .delete(let table, let conditions): touch(table, conditions, parameters)
        case .update(let table, let columns, let first, let conditions):
            touch(table, conditions, parameters)
            write(table, columns, first: first, parameters)
            for name in columns { updatedColumns.insert(table[name]) }
        case .insert(let table, let columns, let conflict):
            if !columns.contains(table.key) { numbered.insert(table) }
            if case .updates(let key) = conflict { replace(table, columns, key, parameters) }
            write(table, columns, first: 1, parameters)
        }
    }

    private mutating func touch(_ table: Table, _ conditions: [Query.Condition], _ parameters: Parameters) {
        guard conditions.count == 1, case .equal(let column, let number) = conditions[0] else {
            whole.insert(table)
            return
        }
        touch(column, parameters[number])
    }

    private mutating func touch(_ column: Column, _ value: Parameters.Value?) {
        // Nothing is equal to NULL.
        guard let value else { return }
        touched.insert(Cell(column: column, value: value))
        touchedColumns[column.table, default: []].insert(column)
    }

    private mutating func replace(_ table: Table, _ columns: [String], _ key: String, _ parameters: Parameters) {
        guard let index = columns.firstIndex(of: key) else {
            whole.insert(table)
            return
        }
        touch(table[key], parameters[Int32(index) + 1])
        for name in columns where name != key { updatedColumns.insert(table[name]) }
    }

    private mutating func write(_ table: Table, _ columns: [String], first: Int32, _ parameters: Parameters) {
        for (name, number) in zip(columns, first...) {
            writtenColumns.insert(table[name])
            guard table.findsRows(by: name), let value = parameters[number] else { continue }
            written.insert(Cell(column: table[name], value: value))
        }
    }

    // MARK: Results

    /// Whether a result from before these changes would be the same now.
    func spares(_ answer: ResultSet, to reach: QueryReach, _ parameters: Parameters) -> Bool {
        if isEmpty { return true }
        guard let links = reach.links, updatedColumns.isDisjoint(with: reach.others) else {
            return reach.tables.allSatisfy { !hasChanged($0) }
        }
        return links.allSatisfy { link in
            !whole.contains(link.column.table) && !hasNewRow(link, answer, parameters)
                && !hasTouchedRow(link.column.table, reach, answer, parameters)
        }
    }

    private func hasChanged(_ table: Table) -> Bool {
        whole.contains(table) || touchedColumns[table] != nil || numbered.contains(table)
            || writtenColumns.contains { $0.table == table }
    }

    /// Whether there is a new or changed row that a value of the result would find.
    private func hasNewRow(_ link: QueryReach.Link, _ answer: ResultSet, _ parameters: Parameters) -> Bool {
        let table = link.column.table
        if link.column.name == table.key, numbered.contains(table) { return true }
        guard writtenColumns.contains(link.column) else { return false }
        guard table.findsRows(by: link.column.name) else { return true }
        return values(link.source, link.column, answer, parameters).contains {
            written.contains(Cell(column: link.column, value: $0))
        }
    }

    private func hasTouchedRow(
        _ table: Table, _ reach: QueryReach, _ answer: ResultSet, _ parameters: Parameters
    ) -> Bool {
        guard let columns = touchedColumns[table] else { return false }
        return columns.contains { column in
            guard let source = reach.source(of: column) else { return true }
            return values(source, column, answer, parameters).contains {
                touched.contains(Cell(column: column, value: $0))
            }
        }
    }

    private func values(
        _ source: QueryReach.Source, _ column: Column, _ answer: ResultSet, _ parameters: Parameters
    ) -> [Parameters.Value] {
        switch source {
        case .parameter(let number): parameters[number].map { [$0] } ?? []
        case .output(let output):
            (0..<answer.rowCount).compactMap { row in
                guard !answer.isNull(row, output) else { return nil }
                return Parameters.Value(
                    type: column.table.type(of: column.name), bytes: unsafe Array(answer.bytes(row, output)))
            }
        }
    }
}

extension Table {
    /// Whether the values of a column are kept, so that changes of one row can be distinguished from those of another.
    fileprivate func findsRows(by column: String) -> Bool {
        column == key || fields.contains { $0.name == column && ($0.isUnique || $0.reference != nil) }
    }
}
