import VaultStorage

/// The values that select the rows of a query's result. They show whether a change of a row can have changed an earlier
/// result.
///
/// Rows of the first table are found by a parameter's value, and rows of each other table by a value of an earlier row.
/// Any other query has no reach: any change of its tables may change its result.
struct QueryReach {
    /// Where a value of the result's rows is found.
    enum Source {
        case parameter(Int32)
        case output(Int32)
    }

    struct Link {
        let column: Column
        let source: Source
    }

    let tables: [Table]
    /// For each table, the value that finds its rows; nil: it is unknown for one of them.
    let links: [Link]?
    private let known: [Column: Source]
    /// Other columns that decide which rows are in the result, or in which order.
    let others: Set<Column>

    init(_ selection: Query.Selection) {
        tables = [selection.from] + selection.joins.map(\.column.table)
        var known: [Column: Source] = [:]
        for (output, number) in zip(selection.output, Int32(0)...) {
            if case .column(let column) = output { known[column] = .output(number) }
        }
        var links: [Link] = []
        var others = Set(selection.order.map(\.column))
        for condition in selection.conditions {
            if case .equal(let column, let number) = condition, column.table == selection.from, links.isEmpty {
                known[column] = .parameter(number)
                links.append(Link(column: column, source: .parameter(number)))
            } else {
                others.formUnion(condition.columns)
            }
        }
        for join in selection.joins {
            if let filter = join.filter { others.insert(filter.column) }
            // The two are equal in each row of the result, unless the join is optional.
            guard let source = known[join.other] ?? (join.isOptional ? nil : known[join.column]) else { continue }
            if known[join.column] == nil { known[join.column] = source }
            links.append(Link(column: join.column, source: source))
        }
        let isPlain = selection.output.allSatisfy { if case .column = $0 { true } else { false } }
        let isWhole = isPlain && links.count == tables.count && Set(tables).count == tables.count
        self.links = isWhole ? links : nil
        self.known = known
        self.others = others
    }

    func source(of column: Column) -> Source? { known[column] }
}

extension Query {
    /// nil for a change.
    var reach: QueryReach? {
        if case .select(let selection) = operation { QueryReach(selection) } else { nil }
    }
}

extension Query.Condition {
    fileprivate var columns: [Column] {
        switch self {
        case .equal(let column, _), .notEqual(let column, _), .less(let column, _), .atMost(let column, _),
            .greater(let column, _), .atLeast(let column, _), .isNull(let column), .isNotNull(let column),
            .isExactly(let column, _), .isNot(let column, _):
            [column]
        case .beyond(let first, _, let second, _): [first, second]
        }
    }
}
