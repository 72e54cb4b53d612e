/// A file with tables. Used by one thread at a time.
protocol TableContainer: AnyObject {
    var format: SourceFormat { get }
    var tables: [TableShape] { get }
    /// Tables with rows of which nothing names the columns.
    var namelessTables: [String] { get }

    /// The rows of a table in their order, as a stream.
    func rows(of table: TableShape) throws(ImportError) -> any RecordCursor

    /// Makes ``find(_:in:)`` possible for these columns.
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

    // Containers of one table have nothing to look up in.
    func prepareLookup(in table: TableShape, by column: String, of columns: Set<String>) throws(ImportError) {}
    func find(_ value: RawValue, in table: TableShape) throws(ImportError) -> Record? { nil }
}
