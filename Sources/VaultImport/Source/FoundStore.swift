/// What a look into a file has shown: enough to read it without looking again.
enum FoundStore: Sendable {
    case tables(SourceFormat, [TableShape], StoreMatch)
    /// The document has no index: its tokens are read by going through it again.
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
        if format == .json {
            guard plan.kind == nil || plan.kind == .msal else {
                throw ImportError(.unknownStore, "the source is one JSON document, which only MSAL's cache is")
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

extension ImportSource.Opening {
    func stream() throws(ImportError) -> ByteStream {
        switch self {
        case .file(let path): try ByteStream(path: path)
        case .bytes(let bytes): ByteStream(bytes)
        }
    }

    /// - Parameter tables: what an earlier look has shown; nil to look.
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
