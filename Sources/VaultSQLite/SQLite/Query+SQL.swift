import Synchronization
import VaultStorage

extension Query {
    /// By query number. Every connection prepares them, and they never change.
    private static let texts = Mutex<[String?]>([])

    /// The query's SQL.
    var sql: String {
        Self.texts.withLock { texts in
            if number >= texts.count {
                texts += [String?](repeating: nil, count: number - texts.count + 1)
            }
            if let text = texts[number] { return text }
            let text = text
            texts[number] = text
            return text
        }
    }

    private var text: String {
        switch operation {
        case .select(let selection): selection.sql
        case .insert(let table, let columns, let conflict):
            """
            INSERT INTO \(table.rawValue) (\(columns.joined(separator: ", ")))
            VALUES (\(columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))\(conflict.sql(columns))
            """
        case .update(let table, let columns, let first, let conditions):
            """
            UPDATE \(table.rawValue)
            SET \(zip(columns, first...).map { "\($0) = ?\($1)" }.joined(separator: ", "))\(conditions.sql)
            """
        case .delete(let table, let conditions): "DELETE FROM \(table.rawValue)\(conditions.sql)"
        }
    }
}

extension Query.Selection {
    fileprivate var sql: String {
        var sql = "SELECT \(output.map(\.sql).joined(separator: ", ")) FROM \(from.rawValue)"
        if let index { sql += " INDEXED BY \(index)" }
        // SQLite visits the tables in the order of the joins.
        for join in joins {
            sql += " \(join.isOptional ? "LEFT" : "CROSS") JOIN \(join.column.table.rawValue)"
            sql += " ON \(join.column.sql) = \(join.value)"
            if let filter = join.filter { sql += " AND \(filter.column.sql) = ?\(filter.parameter)" }
        }
        sql += conditions.sql
        if !order.isEmpty {
            sql += " ORDER BY "
            sql += order.map { $0.column.sql + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
        }
        if let limit { sql += " LIMIT ?\(limit)" }
        if let mostRows { sql += " LIMIT \(mostRows)" }
        return sql
    }
}

extension Query.Join {
    /// NULL is equal to nothing, so nothing is looked for.
    fileprivate var value: String {
        guard let condition else { return other.sql }
        return "CASE WHEN \(condition.sql) IS NOT NULL THEN \(other.sql) END"
    }
}

extension Column {
    fileprivate var sql: String { "\(table.rawValue).\(name)" }
}

extension Query.Output {
    fileprivate var sql: String {
        switch self {
        case .column(let column): column.sql
        case .count: "count(*)"
        case .least(let column): "min(\(column.sql))"
        case .greatest(let column): "max(\(column.sql))"
        }
    }
}

extension [Query.Condition] {
    fileprivate var sql: String { isEmpty ? "" : " WHERE " + map(\.sql).joined(separator: " AND ") }
}

extension Query.Condition {
    fileprivate var sql: String {
        switch self {
        case .equal(let column, let parameter): "\(column.sql) = ?\(parameter)"
        case .notEqual(let column, let parameter): "\(column.sql) <> ?\(parameter)"
        case .less(let column, let parameter): "\(column.sql) < ?\(parameter)"
        case .atMost(let column, let parameter): "\(column.sql) <= ?\(parameter)"
        case .greater(let column, let parameter): "\(column.sql) > ?\(parameter)"
        case .atLeast(let column, let parameter): "\(column.sql) >= ?\(parameter)"
        case .beyond(let first, let firstParameter, let second, let secondParameter):
            "(\(first.sql), \(second.sql)) > (?\(firstParameter), ?\(secondParameter))"
        case .isNull(let column): "\(column.sql) IS NULL"
        case .isNotNull(let column): "\(column.sql) IS NOT NULL"
        case .isExactly(let column, let value): "\(column.sql) = \(value)"
        case .isNot(let column, let value): "\(column.sql) <> \(value)"
        }
    }
}

extension Query.Conflict {
    fileprivate func sql(_ columns: [String]) -> String {
        switch self {
        case .fails: ""
        case .keeps: " ON CONFLICT DO NOTHING"
        case .updates(let key):
            " ON CONFLICT (\(key)) DO UPDATE SET "
                + columns.filter { $0 != key }.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        }
    }
}
