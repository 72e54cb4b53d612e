import TestSupport
import VaultStorage

/// Makes up changes and questions, such as the vault's own and stranger ones. Few values, so that they meet.
struct Program {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let tables: [Table] = [
        .provider, .user, .login, .loginSecret, .refreshIntent, .outbox, .authorizationRequest, .audit, .unusableReply,
        .unreportedFailure, .keySlot, .backup, .observer,
    ]

    mutating func next() -> Action {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: insert()
        case 4: update()
        case 5: delete()
        default: select()
        }
    }

    // MARK: Changes

    private mutating func insert() -> Action {
        let table = pick(Self.tables)
        var columns = table.fields.map(\.name)
        let hasKey = table.keyReference != nil || table == .audit || table == .refreshIntent || chance(0.3)
        if hasKey { columns.insert(table.key, at: 0) }
        // Now and then a column is left out that must not be.
        if columns.count > 1, chance(0.05), let index = columns.indices.randomElement(using: &random) {
            columns.remove(at: index)
        }
        let unique = table.fields.filter { $0.isUnique && columns.contains($0.name) }.map(\.name)
        let keys = unique + (hasKey && columns.contains(table.key) ? [table.key] : [])
        var conflict = Query.Conflict.fails
        if chance(0.2) { conflict = .keeps }
        if chance(0.2), keys.count == 1, columns.count > 1, !hasKey || keys == [table.key] {
            conflict = .updates(by: keys[0])
        }
        return Action(
            query: .insert(into: table, columns, onConflict: conflict),
            parameters: columns.map { value(of: table, $0, isForChange: true) })
    }

    private mutating func update() -> Action {
        let table = pick(Self.tables)
        guard let field = table.fields.randomElement(using: &random) else { return delete() }
        let conditions = conditions(on: table, first: 2)
        return Action(
            query: .update(table, field.name, where: conditions.map(\.condition)),
            parameters: [value(of: table, field.name, isForChange: true)] + conditions.flatMap(\.parameters))
    }

    private mutating func delete() -> Action {
        let table = pick(Self.tables)
        let conditions = conditions(on: table, first: 1)
        return Action(
            query: .delete(from: table, where: conditions.map(\.condition)),
            parameters: conditions.flatMap(\.parameters))
    }

    // MARK: Questions

    private mutating func select() -> Action {
        let from = pick(Self.tables)
        var tables = [from]
        var joins: [Query.Join] = []
        var parameters: [Action.Parameter] = []
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            guard let join = join(from: tables, &parameters) else { break }
            joins.append(join)
            tables.append(join.column.table)
        }
        var conditions: [Query.Condition] = []
        for table in tables where chance(0.6) {
            let made = self.conditions(on: table, first: Int32(parameters.count + 1))
            conditions += made.map(\.condition)
            parameters += made.flatMap(\.parameters)
        }
        if chance(0.15) {
            let column = pick(integers(of: from))
            let output: [Query.Output] = chance(0.3) ? [.count] : chance(0.5) ? [.least(column)] : [.greatest(column)]
            return Action(
                query: .select(output, from: from, joins: joins, where: conditions), parameters: parameters)
        }
        let output = tables.flatMap { table in
            ([table.key] + table.fields.map(\.name)).map { Query.Output.column(table[$0]) }
        }
        var order: [Query.Order] = []
        if chance(0.7) {
            if chance(0.5) { order.append(direction(pick(columns(of: pick(tables))))) }
            // A whole order, so that there is only one answer.
            order += tables.map { direction($0[$0.key]) }
        }
        var limit: Int32?
        if !order.isEmpty, chance(0.5) {
            parameters.append(.integer(Int64.random(in: 0...4, using: &random)))
            limit = Int32(parameters.count)
        }
        return Action(
            query: .select(output, from: from, joins: joins, where: conditions, order: order, limit: limit),
            parameters: parameters)
    }

    private mutating func direction(_ column: Column) -> Query.Order { chance(0.5) ? .up(column) : .down(column) }

    /// Along a reference, in either direction, to a table that is not there yet.
    private mutating func join(from tables: [Table], _ parameters: inout [Action.Parameter]) -> Query.Join? {
        var all: [(Column, Column)] = []
        for table in Table.allCases {
            let own = table.fields.compactMap { field in field.reference.map { (table[field.name], $0) } }
            all += own + (table.keyReference.map { [(table[table.key], $0)] } ?? [])
        }
        all += all.map { ($0.1, $0.0) }
        let possible = all.filter { !tables.contains($0.0.table) && tables.contains($0.1.table) }
        guard let (column, other) = possible.randomElement(using: &random) else { return nil }
        if chance(0.5) { return .each(column, is: other) }
        let condition = other.table.fields.map { other.table[$0.name] }.randomElement(using: &random)
        var filter: (Column, Int32)?
        if chance(0.3) {
            let filtered = pick(columns(of: column.table))
            parameters.append(value(of: column.table, filtered.name, isForChange: false))
            filter = (filtered, Int32(parameters.count))
        }
        return .optional(column, is: other, ifAny: chance(0.5) ? condition : nil, with: filter)
    }

    // MARK: Conditions

    private mutating func conditions(
        on table: Table, first: Int32
    ) -> [(condition: Query.Condition, parameters: [Action.Parameter])] {
        var made: [(condition: Query.Condition, parameters: [Action.Parameter])] = []
        var next = first
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let column = pick(columns(of: table))
            let parameter = value(of: table, column.name, isForChange: false)
            let integer = pick(integers(of: table))
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4: made.append((.equal(column, next), [parameter]))
            case 4: made.append((.notEqual(column, next), [parameter]))
            case 5: made.append((.less(column, next), [parameter]))
            case 6: made.append((.atMost(column, next), [parameter]))
            case 7: made.append((.greater(column, next), [parameter]))
            case 8: made.append((.atLeast(column, next), [parameter]))
            case 9: made.append((.isNull(column), []))
            case 10: made.append((chance(0.5) ? .isNotNull(column) : .isNot(integer, 2), []))
            default:
                let other = table[table.key]
                made.append(
                    (
                        .beyond(integer, next, other, next + 1),
                        [value(of: table, integer.name, isForChange: false), .integer(small())]
                    ))
            }
            next += Int32(made.last?.parameters.count ?? 0)
        }
        return made
    }

    // MARK: Values

    private func columns(of table: Table) -> [Column] { ([table.key] + table.fields.map(\.name)).map { table[$0] } }

    private func integers(of table: Table) -> [Column] {
        [table[table.key]] + table.fields.filter { $0.type == .integer }.map { table[$0.name] }
    }

    private mutating func small() -> Int64 { Int64.random(in: 1...5, using: &random) }

    private mutating func value(of table: Table, _ column: String, isForChange: Bool) -> Action.Parameter {
        guard let field = table.fields.first(where: { $0.name == column }) else {
            // Never NULL: for that SQLite makes up a number.
            return .integer(isForChange ? Int64.random(in: 1...8, using: &random) : small())
        }
        if field.isOptional ? chance(0.3) : chance(0.02) { return .null }
        if isForChange, chance(0.02) {
            switch field.type {
            case .integer: return .bytes([1, 2, 3])
            case .bytes: return .integer(3)
            case .text: break
            }
        }
        switch field.type {
        case .integer: return .integer(small())
        case .text: return .text(pick(["", "a", "b", "é", "e\u{301}"]))
        case .bytes:
            if let reference = field.reference, reference.name == "handle" { return .bytes(handle(16)) }
            let isWrong = isForChange && field.byteCount != nil && chance(0.02)
            return .bytes(handle(isWrong ? 15 : field.byteCount ?? Int.random(in: 0...2, using: &random)))
        }
    }

    private mutating func handle(_ count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8.random(in: 1...6, using: &random), count: count)
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private mutating func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }
}

extension Query {
    static func insert(into table: Table, _ columns: [String], onConflict: Conflict) -> Query {
        Query(.insert(into: table, columns: columns, onConflict: onConflict))
    }
}
