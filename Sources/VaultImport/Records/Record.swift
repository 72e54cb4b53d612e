import OAuthClient

/// One row of a table.
struct Record: Sendable {
    /// Counted from 1: the line in a text file, the row in a database.
    let row: Int
    let columns: ColumnIndex
    private let content: Content

    private enum Content: Sendable {
        case values([RawValue])
        case object(JSONObject)
    }

    init(row: Int, columns: ColumnIndex, values: [RawValue]) {
        self.row = row
        self.columns = columns
        content = .values(values)
    }

    init(row: Int, columns: ColumnIndex, object: JSONObject) {
        self.row = row
        self.columns = columns
        content = .object(object)
    }

    /// The value of a column by its folded name; nil if there is no such column.
    subscript(folded: String) -> RawValue? {
        guard let position = columns[folded] else { return nil }
        switch content {
        case .values(let values): return position < values.count ? values[position] : nil
        case .object(let object): return object[columns.names[position]].map(RawValue.init)
        }
    }
}

/// The next item from a container.
enum RecordReading: Sendable {
    case record(Record)
    /// An unreadable record, with its row.
    case fault(Int, RejectReason)
}
