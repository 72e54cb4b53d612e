/// CSV (RFC 4180). Nothing is trimmed or guessed: `007` is unchanged.
final class CSVContainer: TableContainer {
    let format = SourceFormat.csv
    let tables: [TableShape]
    private let open: () throws(ImportError) -> ByteStream
    private let limits: ImportLimits
    private let hasHeader: Bool
    private let dialect: CSVDialect

    /// - Parameters:
    ///   - plan: with the columns of a file without a header, and optionally the separator.
    ///   - tables: the result of an earlier detection; nil to detect.
    init(
        _ plan: ImportPlan, tables: [TableShape]? = nil, open: @escaping () throws(ImportError) -> ByteStream
    ) throws(ImportError) {
        self.open = open
        limits = plan.limits
        hasHeader = plan.header == nil
        let stream = try open()
        stream.skipByteOrderMark()
        if let other = CSVDialect.other(in: stream.head(), plan), let given = plan.separator {
            throw ImportError(
                .unfitPlan,
                "the first line of the CSV file has no \(given.rawValue): it is separated by \(other.rawValue)",
                hint: "leave --separator out, or use: --separator \(other.rawValue)")
        }
        // A single column has no separator.
        let dialect = CSVDialect(stream.head(), plan, isUTF16: stream.isUTF16) ?? .comma
        self.dialect = dialect
        self.tables = if let tables { tables } else { [try Self.shape(plan, dialect, open)] }
    }

    /// The names in a first line that is not a header may be tokens, so they are not shown.
    static let missingHeader =
        "if its first line names no columns: --columns NAMES; if it does, say which is which: --map user=COLUMN,"
        + "access_token=COLUMN"

    private static func shape(
        _ plan: ImportPlan, _ dialect: CSVDialect, _ open: () throws(ImportError) -> ByteStream
    ) throws(ImportError) -> TableShape {
        let reader = CSVReader(try open(), longest: plan.limits.recordBytes, dialect)
        var first: [String]?
        switch try reader.next() {
        case .fields(_, let fields)?: first = fields.map { $0 ?? "" }
        case .fault(let line, .tooLong)?: throw ImportError.tooLong(line: line, plan.limits)
        case .fault?, nil: break
        }
        guard let names = plan.header ?? first else {
            throw ImportError(.unknownFormat, "the first line of the CSV file is not a header", hint: missingHeader)
        }
        guard plan.header != first || first == nil else {
            throw ImportError(
                .unfitPlan, "the first line of the CSV file names the columns that are given",
                hint: "leave --columns out: they are for a file without a header")
        }
        guard Set(names).count == names.count else {
            throw ImportError(
                .unfitPlan, "two columns of the CSV file have the same name",
                hint: "rename one of them in its first line")
        }
        return TableShape(name: "", columns: ColumnIndex(names))
    }

    func rows(of table: TableShape) throws(ImportError) -> any RecordCursor {
        let reader = CSVReader(try open(), longest: limits.recordBytes, dialect)
        if hasHeader { _ = try reader.next() }
        return CSVCursor(reader, table.columns)
    }
}

private final class CSVCursor: RecordCursor {
    private let reader: CSVReader
    private let columns: ColumnIndex

    init(_ reader: CSVReader, _ columns: ColumnIndex) {
        self.reader = reader
        self.columns = columns
    }

    func next() throws(ImportError) -> RecordReading? {
        switch try reader.next() {
        case nil: return nil
        case .fault(let line, let reason)?: return .fault(line, reason)
        case .fields(let line, let fields)?:
            guard fields.count == columns.names.count else { return .fault(line, .wrongColumnCount) }
            return .record(Record(row: line, columns: columns, values: fields.map { $0.map { .text($0) } ?? .null }))
        }
    }

    var progress: Double? { reader.progress }
}
