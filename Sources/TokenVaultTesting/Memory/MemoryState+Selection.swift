import VaultStorage

extension MemoryState {
    /// The result set of a query, row by row.
    func select(
        _ selection: Query.Selection, _ parameters: [Int32: MemoryValue]
    ) -> AnyIterator<[MemoryValue]> {
        selectInOrder(selection, parameters) ?? AnyIterator(selectAll(selection, parameters).makeIterator())
    }

    /// Rows of one table in the order of their keys, each evaluated on demand; nil for any other query.
    private func selectInOrder(
        _ selection: Query.Selection, _ parameters: [Int32: MemoryValue]
    ) -> AnyIterator<[MemoryValue]>? {
        let table = selection.from
        guard selection.joins.isEmpty, selection.order.count <= 1, selection.limit == nil,
            selection.order.allSatisfy({ $0.column == table[table.key] }),
            !selection.output.contains(where: \.isAggregate)
        else { return nil }
        let keys = candidates(table, selection.conditions, parameters)
        let isDescending = selection.order.first?.isDescending ?? false
        var indices = keys.indices
        var left = selection.mostRows ?? .max
        let rows = self[table]
        return AnyIterator {
            while left > 0, let index = isDescending ? indices.popLast() : indices.popFirst() {
                guard let row = rows[keys[index]] else { continue }
                let joined = Joined(table, row)
                guard selection.conditions.allSatisfy({ $0.holds(for: joined, parameters) }) else { continue }
                left -= 1
                return selection.output.map { $0.value(in: joined) }
            }
            return nil
        }
    }

    private func selectAll(_ selection: Query.Selection, _ parameters: [Int32: MemoryValue]) -> [[MemoryValue]] {
        var found = joined(selection, parameters)
        var most = selection.mostRows ?? .max
        if let limit = selection.limit.flatMap({ parameters[$0] }), case .integer(let limit) = limit, limit >= 0 {
            most = min(most, Int(clamping: limit))
        }
        if most == 1, !selection.order.isEmpty {
            found = found.min { selection.order.precedes($0, $1) }.map { [$0] } ?? []
        } else if !selection.order.isEmpty {
            found.sort { selection.order.precedes($0, $1) }
        }
        if found.count > most { found.removeLast(found.count - most) }
        guard selection.output.contains(where: \.isAggregate) else {
            return found.map { row in selection.output.map { $0.value(in: row) } }
        }
        return [selection.output.map { $0.value(over: found) }]
    }

    /// The keys of the rows of one table that match all conditions.
    func keys(
        in table: Table, where conditions: [Query.Condition], _ parameters: [Int32: MemoryValue]
    ) -> [Int64] {
        let rows = self[table]
        return candidates(table, conditions, parameters).filter { key in
            guard let row = rows[key] else { return false }
            let joined = Joined(table, row)
            return conditions.allSatisfy { $0.holds(for: joined, parameters) }
        }
    }

    /// One row of each table, of which there are a few at most; a missing table has no matching row.
    struct Joined {
        private let first: (table: Table, row: Row)
        private var others: [(table: Table, row: Row)] = []

        init(_ table: Table, _ row: Row) { first = (table, row) }

        subscript(table: Table) -> Row? {
            table == first.table ? first.row : others.first { $0.table == table }?.row
        }

        func joined(by row: Row, of table: Table) -> Joined {
            var copy = self
            copy.others.append((table, row))
            return copy
        }
    }

    private func joined(_ selection: Query.Selection, _ parameters: [Int32: MemoryValue]) -> [Joined] {
        let table = self[selection.from]
        var rows: [Joined] = candidates(selection.from, selection.conditions, parameters).compactMap { key in
            table[key].map { Joined(selection.from, $0) }
        }
        for join in selection.joins {
            rows = rows.flatMap { row -> [Joined] in
                let matches = partners(of: row, join, parameters)
                if matches.isEmpty { return join.isOptional ? [row] : [] }
                return matches.map { row.joined(by: $0, of: join.column.table) }
            }
        }
        return rows.filter { row in selection.conditions.allSatisfy { $0.holds(for: row, parameters) } }
    }

    private func partners(
        of row: Joined, _ join: Query.Join, _ parameters: [Int32: MemoryValue]
    ) -> [Row] {
        guard let own = row[join.other.table], let value = own[join.other.name], value != .null else { return [] }
        if let condition = join.condition, own[condition.name] ?? .null == .null { return [] }
        let rows = self[join.column.table]
        return keys(in: join.column.table, where: join.column.name, is: value).compactMap { key in
            guard let found = rows[key], found[join.column.name] == value else { return nil }
            guard let filter = join.filter else { return found }
            let wanted = parameters[filter.parameter] ?? .null
            return (found[filter.column.name] ?? .null).compare(wanted) == 0 ? found : nil
        }
    }

    /// All rows of a table, or those that one of the conditions finds.
    private func candidates(
        _ table: Table, _ conditions: [Query.Condition], _ parameters: [Int32: MemoryValue]
    ) -> [Int64] {
        var fewest = self[table].keys
        for case .equal(let column, let parameter) in conditions where column.table == table {
            let found = keys(in: table, where: column.name, is: parameters[parameter] ?? .null)
            if found.count < fewest.count { fewest = found }
        }
        for condition in conditions {
            switch condition {
            case .greater(let column, let parameter), .atLeast(let column, let parameter):
                guard column == table[table.key], case .integer(let least)? = parameters[parameter] else { continue }
                fewest = Array(fewest[fewest.place(of: least)...])
            default: continue
            }
        }
        return fewest
    }
}

extension Query.Condition {
    fileprivate func holds(for row: MemoryState.Joined, _ parameters: [Int32: MemoryValue]) -> Bool {
        func value(_ column: Column) -> MemoryValue { row[column.table]?[column.name] ?? .null }
        func compare(_ column: Column, _ parameter: Int32) -> Int? {
            value(column).compare(parameters[parameter] ?? .null)
        }
        return switch self {
        case .equal(let column, let parameter): compare(column, parameter) == 0
        case .notEqual(let column, let parameter): compare(column, parameter).map { $0 != 0 } ?? false
        case .less(let column, let parameter): compare(column, parameter).map { $0 < 0 } ?? false
        case .atMost(let column, let parameter): compare(column, parameter).map { $0 <= 0 } ?? false
        case .greater(let column, let parameter): compare(column, parameter).map { $0 > 0 } ?? false
        case .atLeast(let column, let parameter): compare(column, parameter).map { $0 >= 0 } ?? false
        case .beyond(let first, let firstParameter, let second, let secondParameter):
            switch compare(first, firstParameter) {
            case nil: false
            case 0: compare(second, secondParameter).map { $0 > 0 } ?? false
            case let order?: order > 0
            }
        case .isNull(let column): value(column) == .null
        case .isNotNull(let column): value(column) != .null
        case .isExactly(let column, let number): value(column).compare(.integer(number)) == 0
        case .isNot(let column, let number): value(column).compare(.integer(number)).map { $0 != 0 } ?? false
        }
    }
}

extension Query.Output {
    fileprivate var isAggregate: Bool { if case .column = self { false } else { true } }

    fileprivate func value(in row: MemoryState.Joined) -> MemoryValue {
        guard case .column(let column) = self else { return .null }
        return row[column.table]?[column.name] ?? .null
    }

    fileprivate func value(over rows: [MemoryState.Joined]) -> MemoryValue {
        switch self {
        case .count: .integer(Int64(rows.count))
        case .least(let column): Self.values(column, rows).min { $0.precedes($1) } ?? .null
        case .greatest(let column): Self.values(column, rows).max { $0.precedes($1) } ?? .null
        case .column: rows.first.map { value(in: $0) } ?? .null
        }
    }

    private static func values(_ column: Column, _ rows: [MemoryState.Joined]) -> [MemoryValue] {
        rows.compactMap { $0[column.table]?[column.name] }.filter { $0 != .null }
    }
}

extension [Query.Order] {
    fileprivate func precedes(_ own: MemoryState.Joined, _ other: MemoryState.Joined) -> Bool {
        for order in self {
            let first = own[order.column.table]?[order.column.name] ?? .null
            let second = other[order.column.table]?[order.column.name] ?? .null
            if first.precedes(second) { return !order.isDescending }
            if second.precedes(first) { return order.isDescending }
        }
        return false
    }
}
