/// A file with tables. Used by one thread at a time.
protocol TableContainer: AnyObject {
    var format: SourceFormat { get }
    var tables: [TableShape] { get }
    /// Tables whose rows have no known column names.
    var namelessTables: [String] { get }

    /// The rows of a table in order, as a stream.
    func rows(of table: TableShape) throws(ImportError) -> any RecordCursor

    /// Enables ``find(_:in:)`` for these columns.
    func prepareLookup(in table: TableShape, by column: String, of columns: Set<String>) throws(ImportError)

    /// The row of a prepared table whose column has this value.
    func find(_ value: RawValue, in table: TableShape) throws(ImportError) -> Record?
}

/// The rows of one table.
protocol RecordCursor: AnyObject {
    /// Nil at the end.
    func next() throws(ImportError) -> RecordReading?
    /// The share of the rows that was read, if it is known.
    var progress: Double? { get }
}

extension TableContainer {
    var namelessTables: [String] { [] }

    // Containers of one table need no lookup.
    func prepareLookup(in table: TableShape, by column: String, of columns: Set<String>) throws(ImportError) {}
    func find(_ value: RawValue, in table: TableShape) throws(ImportError) -> Record? { nil }
}

extension ImportError {
    /// A line of which not even the columns can be told.
    static func tooLong(line: Int, _ limits: ImportLimits) -> ImportError {
        ImportError(
            .unknownFormat, "line \(line) of the source is longer than \(limits.recordBytes) bytes, and no login is",
            hint: "write each login on a line of its own: docs/import.md shows how to make JSON Lines of any table")
    }
}
