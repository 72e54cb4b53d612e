import OAuthClient

/// One row of a table.
struct Record: Sendable {
    /// From 1: the line in a text file, the row in a database.
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

/// What a container gives next.
enum RecordReading: Sendable {
    case record(Record)
    /// A record that cannot be read; its row.
    case fault(Int, RejectReason)
}
