import VaultStorage

/// By which values rows come into the answer of a query: what tells whether a change of a row can have changed an answer
/// that was given before.
///
/// The rows of the first table are found by a value that is a parameter, and those of each other table by a value of a row
/// before. A query of another kind has no reach: any change of its tables may change its answer.
struct QueryReach {
    /// Where a value of the answer's rows is found.
    enum Source {
        case parameter(Int32)
        case output(Int32)
    }

    struct Link {
        let column: Column
        let source: Source
    }

    let tables: [Table]
    /// For each table the value by which its rows are found; nil: that is not known of one of them.
    let links: [Link]?
    private let known: [Column: Source]
    /// Other columns that decide which rows are in the answer, or in which order.
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
            // The two are equal in each row of the answer, unless the join is optional.
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
    /// nil for what changes something.
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
