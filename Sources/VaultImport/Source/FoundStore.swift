/// The result of detecting a file's store: enough to read it without a second detection.
enum FoundStore: Sendable {
    case tables(SourceFormat, [TableShape], StoreMatch)
    /// The document has no index: its tokens are read in a second pass.
    case msal(StoreDetection)

    init(_ opening: ImportSource.Opening, _ plan: ImportPlan) throws(ImportError) {
        let stream = try opening.stream()
        try stream.check()
        let format = try FormatDetection.format(of: stream.head(), plan, isUTF16: stream.isUTF16)
        if format == .sqlite, stream.isPacked {
            throw ImportError(
                .unknownFormat, "the source is a compressed SQLite database",
                hint: "unpack it into a directory of your own: gunzip --keep FILE")
        }
        try plan.requireFit(for: format)
        if format == .json {
            guard plan.kind == nil || plan.kind == .msal else {
                throw ImportError(
                    .unknownStore, "the source is one JSON document, a form that only MSAL's cache may have")
            }
            self = .msal(try MSALCache(stream, plan).detection)
            return
        }
        let container = try opening.container(format, plan)
        self = .tables(format, container.tables, try StoreMatch.find(in: container, plan))
    }

    var detection: StoreDetection {
        switch self {
        case .tables(_, _, let match): match.detection
        case .msal(let detection): detection
        }
    }
}

extension ImportPlan {
    /// Rejects options that the format does not support, which would otherwise be ignored silently.
    fileprivate func requireFit(for format: SourceFormat) throws(ImportError) {
        let tables: [SourceFormat] = [.sqlite, .sqlDump]
        let rows: [SourceFormat] = [.sqlite, .sqlDump, .csv, .jsonLines]
        let given: [(isGiven: Bool, words: String, formats: [SourceFormat], purpose: String)] = [
            (
                header != nil, "a list of columns", [.csv, .sqlDump],
                "a CSV file without a header, or a table of a dump"
            ),
            (separator != nil, "a separator", [.csv], "CSV files"),
            (userTable != nil, "a table of users", tables, "databases and dumps"),
            // A source with one table has no name for it; the error that lists the tables reports that.
            (table != nil, "a table", rows, "databases and dumps"),
            (!columns.isEmpty, "a map of columns", rows, "rows"),
            (rowKey != nil, "a key of rows", rows, "rows"),
            (provider != nil, "a provider for all rows", rows, "rows that name none"),
        ]
        guard let odd = given.first(where: { $0.isGiven && !$0.formats.contains(format) }) else { return }
        throw ImportError(
            .unfitPlan, "\(odd.words) is given, and the source is \(format.words)",
            hint: "leave it out: it is for \(odd.purpose)")
    }
}

extension ImportSource.Opening {
    func stream() throws(ImportError) -> ByteStream {
        switch self {
        case .file(let path): try ByteStream(path: path)
        case .bytes(let bytes): ByteStream(bytes)
        }
    }

    /// - Parameter tables: The result of an earlier detection; nil to detect.
    func container(
        _ format: SourceFormat, _ plan: ImportPlan, tables: [TableShape]? = nil
    ) throws(ImportError) -> any TableContainer {
        let open = { () throws(ImportError) in try stream() }
        let limits = plan.limits
        switch (format, self) {
        case (.sqlite, .file(let path)): return try SQLiteContainer(path: path, limits: limits, tables: tables)
        case (.sqlite, .bytes), (.json, _):
            throw ImportError(.unknownFormat, "SQLite databases are read from files")
        case (.jsonLines, _): return try JSONLinesContainer(limits: limits, tables: tables, open: open)
        case (.csv, _): return try CSVContainer(plan, tables: tables, open: open)
        case (.sqlDump, _): return try SQLDumpContainer(plan, tables: tables, open: open)
        }
    }
}
