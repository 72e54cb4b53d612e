import Synchronization

/// What is asked of the vault's tables, told as data: every engine makes of it what its database understands.
///
/// Parameters count from 1, columns of the answer from 0. A query is made once and kept for as long as the program runs:
/// an engine prepares it once for each connection, and finds it again by which object it is, or by its number.
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
        /// The parameter that says how many rows are wanted at most.
        package var limit: Int32?
        /// How many rows are wanted at most, whatever the parameters are.
        package var mostRows: Int?
        /// An index of the schema by which the rows are found and ordered, where an engine needs to be told.
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

    /// Rows of another table, whose column has the value that a column of a table before it has.
    package struct Join: Sendable {
        package let column: Column
        package let other: Column
        /// Whether a row that finds none stays, with NULL in its place.
        package let isOptional: Bool

        package static func each(_ column: Column, is other: Column) -> Join {
            Join(column: column, other: other, isOptional: false)
        }

        package static func optional(_ column: Column, is other: Column) -> Join {
            Join(column: column, other: other, isOptional: true)
        }
    }

    /// What all rows of the answer have in common. Comparing with NULL is never true.
    package enum Condition: Sendable {
        case equal(Column, Int32)
        case notEqual(Column, Int32)
        case less(Column, Int32)
        case atMost(Column, Int32)
        case greater(Column, Int32)
        case atLeast(Column, Int32)
        /// A place in the order of two columns.
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
        /// The row that is there stays as it is.
        case keeps
        /// The row that has the same value in `column` takes over all others.
        case updates(by: String)
    }

    package let operation: Operation
    /// Counts the queries of the program, from 0.
    package let number: Int

    private static let count = Atomic(0)

    package init(_ operation: Operation) {
        self.operation = operation
        number = Self.count.add(1, ordering: .relaxed).oldValue
    }

    /// Which object it is.
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
