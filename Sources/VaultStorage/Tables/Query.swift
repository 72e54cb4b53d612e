import Synchronization

/// A query on the vault's tables, expressed as data that each engine translates for its database.
///
/// Parameters count from 1, columns of the result set from 0. A query is created once and lives as long as the program.
/// An engine prepares it once for each connection, and finds it again by its identity or its number.
package final class Query: Sendable, Hashable {
    package enum Operation: Sendable {
        case select(Selection)
        /// Parameter 1 is the value of the first column, and so on.
        case insert(into: Table, columns: [String], onConflict: Conflict)
        /// The value of the first column is parameter `first`, and so on.
        case update(Table, columns: [String], first: Int32, where: [Condition])
        case delete(from: Table, where: [Condition])
    }

    package struct Selection: Sendable {
        package var output: [Output]
        package var from: Table
        package var joins: [Join]
        package var conditions: [Condition]
        package var order: [Order]
        /// The parameter that holds the maximum number of rows.
        package var limit: Int32?
        /// The maximum number of rows, independent of the parameters.
        package var mostRows: Int?
        /// The index that finds and orders the rows, for engines that need a hint.
        package var index: String?
    }

    package enum Output: Sendable {
        case column(Column)
        /// Always one row.
        case count
        /// NULL if there is no row.
        case least(Column)
        case greatest(Column)
    }

    /// Joins the rows of another table whose column equals a column of an earlier table.
    package struct Join: Sendable {
        package let column: Column
        package let other: Column
        /// Whether a row without a match stays, with NULL in the joined columns.
        package let isOptional: Bool
        /// A column of the other table: where it is NULL, no match is looked for.
        package let condition: Column?
        /// A column of the joined table that must equal a parameter, too.
        package let filter: (column: Column, parameter: Int32)?

        package static func each(_ column: Column, is other: Column) -> Join {
            Join(column: column, other: other, isOptional: false, condition: nil, filter: nil)
        }

        package static func optional(
            _ column: Column, is other: Column, ifAny condition: Column? = nil,
            with filter: (column: Column, parameter: Int32)? = nil
        ) -> Join {
            Join(column: column, other: other, isOptional: true, condition: condition, filter: filter)
        }
    }

    /// A condition on all rows of the result set. A comparison with NULL is never true.
    package enum Condition: Sendable {
        case equal(Column, Int32)
        case notEqual(Column, Int32)
        case less(Column, Int32)
        case atMost(Column, Int32)
        case greater(Column, Int32)
        case atLeast(Column, Int32)
        /// A position in the order of two columns.
        case beyond(Column, Int32, Column, Int32)
        case isNull(Column)
        case isNotNull(Column)
        case isExactly(Column, Int64)
        case isNot(Column, Int64)
    }

    package struct Order: Sendable {
        package let column: Column
        package let isDescending: Bool

        package static func up(_ column: Column) -> Order { Order(column: column, isDescending: false) }
        package static func down(_ column: Column) -> Order { Order(column: column, isDescending: true) }
    }

    package enum Conflict: Sendable {
        case fails
        /// The existing row stays as it is.
        case keeps
        /// The row with the same value in `column` takes all other values.
        case updates(by: String)
    }

    package let operation: Operation
    /// The query's number in the program, counted from 0.
    package let number: Int

    private static let count = Atomic(0)

    package init(_ operation: Operation) {
        self.operation = operation
        number = Self.count.add(1, ordering: .relaxed).oldValue
    }

    /// Whether both are the same object.
    package static func == (own: Query, other: Query) -> Bool { own === other }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    package static func select(
        _ output: [Output], from table: Table, joins: [Join] = [], where conditions: [Condition] = [],
        order: [Order] = [], limit: Int32? = nil, mostRows: Int? = nil, index: String? = nil
    ) -> Query {
        Query(
            .select(
                Selection(
                    output: output, from: table, joins: joins, conditions: conditions, order: order, limit: limit,
                    mostRows: mostRows, index: index)))
    }

    package static func insert(into table: Table, _ columns: String..., onConflict: Conflict = .fails) -> Query {
        Query(.insert(into: table, columns: columns, onConflict: onConflict))
    }

    package static func update(
        _ table: Table, _ columns: String..., first: Int32 = 1, where conditions: [Condition]
    ) -> Query {
        Query(.update(table, columns: columns, first: first, where: conditions))
    }

    package static func delete(from table: Table, where conditions: [Condition]) -> Query {
        Query(.delete(from: table, where: conditions))
    }
}
