import VaultStorage

extension Query {
    /// The query as a PostgreSQL statement.
    var statement: Statement {
        var writer = SQLWriter()
        switch operation {
        case .select(let selection): writer.select(selection)
        case .insert(let table, let columns, let conflict): writer.insert(table, columns, conflict)
        case .update(let table, let columns, let first, let conditions):
            writer.update(table, columns, first: first, conditions)
        case .delete(let table, let conditions):
            writer.sql += "DELETE FROM \(table.sql)"
            writer.filter(conditions)
        }
        return writer.statement
    }

    /// The parameters that become values of a row, and so must have the column's type.
    var valueParameters: Range<Int32> {
        switch operation {
        case .select, .delete: 0..<0
        case .insert(_, let columns, _): 1..<Int32(columns.count + 1)
        case .update(_, let columns, let first, _): first..<first + Int32(columns.count)
        }
    }

    /// Whether the result may be too long to fetch at once.
    var isUnbounded: Bool {
        guard case .select(let selection) = operation, selection.limit == nil, selection.mostRows == nil else {
            return false
        }
        // A vault has one such row.
        if selection.from == .vault || selection.output.contains(where: \.isAggregate) { return false }
        return !selection.conditions.contains { condition in
            guard case .equal(let column, _) = condition else { return false }
            return column.name == column.table.key
                || column.table.fields.contains { $0.name == column.name && ($0.isUnique || $0.reference != nil) }
        }
    }
}

extension Table {
    /// `user` is an SQL keyword, and no other name is all lower case.
    var sql: String { "\"\(rawValue)\"" }

    func type(of column: String) -> FieldType { fields.first { $0.name == column }?.type ?? .integer }
}

extension Column {
    fileprivate var sql: String { "\(table.sql).\"\(name)\"" }
    fileprivate var type: Table.FieldType { table.type(of: name) }
}

extension Query.Join {
    /// NULL is equal to nothing, so nothing is looked for.
    fileprivate var value: String {
        guard let condition else { return other.sql }
        return "CASE WHEN \(condition.sql) IS NOT NULL THEN \(other.sql) END"
    }
}

extension Query.Output {
    fileprivate var isAggregate: Bool { if case .column = self { false } else { true } }

    fileprivate var sql: String {
        switch self {
        case .column(let column): column.sql
        case .count: "count(*)"
        case .least(let column): "min(\(column.sql))"
        case .greatest(let column): "max(\(column.sql))"
        }
    }
}

/// Writes one statement, and records each parameter's type.
private struct SQLWriter {
    var sql = ""
    private var types: [Int32: Table.FieldType] = [:]

    var statement: Statement {
        let last = types.keys.max() ?? 0
        return Statement(sql, last == 0 ? [] : (1...last).map { types[$0] ?? .integer })
    }

    private mutating func parameter(_ number: Int32, _ type: Table.FieldType) -> String {
        types[number] = type
        return "$\(number)"
    }

    // MARK: Queries

    mutating func select(_ selection: Query.Selection) {
        sql += "SELECT \(selection.output.map(\.sql).joined(separator: ", ")) FROM \(selection.from.sql)"
        for join in selection.joins {
            sql += " \(join.isOptional ? "LEFT " : "")JOIN \(join.column.table.sql)"
            sql += " ON \(join.column.sql) = \(join.value)"
            guard let filter = join.filter else { continue }
            sql += " AND \(filter.column.sql) = \(parameter(filter.parameter, filter.column.type))"
        }
        filter(selection.conditions)
        if !selection.order.isEmpty {
            sql += " ORDER BY "
            sql += selection.order.map { order($0, selection) }.joined(separator: ", ")
        }
        if let limit = selection.limit { sql += " LIMIT \(parameter(limit, .integer))" }
        if let most = selection.mostRows { sql += " LIMIT \(most)" }
    }

    /// NULL comes first, as in SQLite. Written only where there may be one: it keeps an index from providing the order.
    private func order(_ order: Query.Order, _ selection: Query.Selection) -> String {
        let direction = order.isDescending ? " DESC" : ""
        guard mayBeNull(order.column, selection) else { return order.column.sql + direction }
        return order.column.sql + direction + (order.isDescending ? " NULLS LAST" : " NULLS FIRST")
    }

    private func mayBeNull(_ column: Column, _ selection: Query.Selection) -> Bool {
        if selection.conditions.contains(where: { $0.excludesNull(column) }) { return false }
        if selection.joins.contains(where: { $0.isOptional && $0.column.table == column.table }) { return true }
        return column.table.fields.contains { $0.name == column.name && $0.isOptional }
    }

    mutating func filter(_ conditions: [Query.Condition]) {
        guard !conditions.isEmpty else { return }
        sql += " WHERE " + conditions.map { self.condition($0) }.joined(separator: " AND ")
    }

    private mutating func condition(_ condition: Query.Condition) -> String {
        switch condition {
        case .equal(let column, let number): "\(column.sql) = \(parameter(number, column.type))"
        case .notEqual(let column, let number): "\(column.sql) <> \(parameter(number, column.type))"
        case .less(let column, let number): "\(column.sql) < \(parameter(number, column.type))"
        case .atMost(let column, let number): "\(column.sql) <= \(parameter(number, column.type))"
        case .greater(let column, let number): "\(column.sql) > \(parameter(number, column.type))"
        case .atLeast(let column, let number): "\(column.sql) >= \(parameter(number, column.type))"
        case .beyond(let first, let firstNumber, let second, let secondNumber):
            "(\(first.sql), \(second.sql)) > "
                + "(\(parameter(firstNumber, first.type)), \(parameter(secondNumber, second.type)))"
        case .isNull(let column): "\(column.sql) IS NULL"
        case .isNotNull(let column): "\(column.sql) IS NOT NULL"
        case .isExactly(let column, let value): "\(column.sql) = \(value)"
        case .isNot(let column, let value): "\(column.sql) <> \(value)"
        }
    }

    // MARK: Changes

    /// Rows get the number after the highest one, as in SQLite: the writer holds the vault's lock, so no other process
    /// can take it. A sequence would leave gaps.
    mutating func insert(_ table: Table, _ columns: [String], _ conflict: Query.Conflict) {
        var names = columns.map { "\"\($0)\"" }
        var values: [String] = []
        for (column, number) in zip(columns, Int32(1)...) { values.append(parameter(number, table.type(of: column))) }
        if !columns.contains(table.key) {
            names.append("\"\(table.key)\"")
            values.append("COALESCE((SELECT max(\"\(table.key)\") FROM \(table.sql)), 0) + 1")
        }
        let insert =
            "INSERT INTO \(table.sql) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
            + conflict.sql(columns) + " RETURNING \"\(table.key)\""
        guard table == .refreshIntent else {
            sql += insert
            return
        }
        // A fence is never used twice, even when its intent is gone.
        sql += """
            WITH made AS (\(insert))
            UPDATE "engineState" SET "highestFence" = GREATEST("highestFence", made."fence") FROM made
            RETURNING made."fence"
            """
    }

    mutating func update(_ table: Table, _ columns: [String], first: Int32, _ conditions: [Query.Condition]) {
        var changes: [String] = []
        for (column, number) in zip(columns, first...) {
            changes.append("\"\(column)\" = \(parameter(number, table.type(of: column)))")
        }
        sql += "UPDATE \(table.sql) SET \(changes.joined(separator: ", "))"
        filter(conditions)
    }
}

extension Query.Condition {
    fileprivate func excludesNull(_ column: Column) -> Bool {
        switch self {
        case .equal(let own, _), .notEqual(let own, _), .less(let own, _), .atMost(let own, _), .greater(let own, _),
            .atLeast(let own, _), .isNotNull(let own), .isExactly(let own, _), .isNot(let own, _):
            own == column
        case .beyond, .isNull: false
        }
    }
}

extension Query.Conflict {
    fileprivate func sql(_ columns: [String]) -> String {
        switch self {
        case .fails: ""
        case .keeps: " ON CONFLICT DO NOTHING"
        case .updates(let key):
            " ON CONFLICT (\"\(key)\") DO UPDATE SET "
                + columns.filter { $0 != key }.map { "\"\($0)\" = EXCLUDED.\"\($0)\"" }.joined(separator: ", ")
        }
    }
}
