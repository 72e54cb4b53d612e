/// A dump that is read as text. The file is read several times: for the tables, for the rows that other rows refer to,
/// and for the rows themselves.
final class SQLDumpContainer: TableContainer {
    let format = SourceFormat.sqlDump
    let tables: [TableShape]
    let namelessTables: [String]
    private let open: () throws(ImportError) -> ByteStream
    private let limits: ImportLimits
    private var lookups: [String: Lookup] = [:]
    private var isLoaded = false

    private struct Lookup {
        let key: String
        let columns: Set<String>
        var rows: [String: Record] = [:]
    }

    /// - Parameters:
    ///   - plan: with the columns of its table, if the dump does not name them.
    ///   - tables: the result of an earlier detection; nil to detect.
    init(
        _ plan: ImportPlan, tables: [TableShape]? = nil, open: @escaping () throws(ImportError) -> ByteStream
    ) throws(ImportError) {
        self.open = open
        limits = plan.limits
        if let tables {
            (self.tables, namelessTables) = (tables, [])
        } else {
            let scanner = DumpScanner(try open(), longest: plan.limits.recordBytes, wanted: [])
            (self.tables, namelessTables) = try Self.shapes(scanner, plan)
        }
    }

    private static func shapes(
        _ scanner: DumpScanner, _ plan: ImportPlan
    ) throws(ImportError) -> (tables: [TableShape], nameless: [String]) {
        var shapes: [String: ColumnIndex] = [:]
        var names: [String] = []
        while let item = try scanner.next() {
            switch item {
            // The `CREATE TABLE` of a table, if there is one, comes first and wins.
            case .table(let name, let columns) where shapes.count < 10_000:
                if shapes[name] == nil { shapes[name] = ColumnIndex(columns) }
                names.append(name)
            case .rows(let name) where names.count < 10_000: names.append(name)
            case .table, .rows, .row, .fault: continue
            }
            if names.count > 1, names.last == names[names.count - 2] { names.removeLast() }
        }
        var met: Set<String> = []
        var (tables, nameless): ([TableShape], [String]) = ([], [])
        for name in names where met.insert(name).inserted {
            if let columns = shapes[name] {
                tables.append(TableShape(name: name, columns: columns))
            } else if let header = plan.header, let meant = plan.table, isMeant(name, by: meant) {
                tables.append(TableShape(name: name, columns: ColumnIndex(header)))
            } else {
                nameless.append(name)
            }
        }
        return (tables, nameless)
    }

    private static func isMeant(_ name: String, by given: String) -> Bool {
        TableShape(name: name, columns: ColumnIndex([])).isMeant(by: given)
    }

    func rows(of table: TableShape) throws(ImportError) -> any RecordCursor {
        try load()
        return SQLDumpCursor(
            DumpScanner(try open(), longest: limits.recordBytes, wanted: [table.name]), table)
    }

    func prepareLookup(in table: TableShape, by column: String, of columns: Set<String>) throws(ImportError) {
        lookups[table.name] = Lookup(key: column, columns: columns)
    }

    func find(_ value: RawValue, in table: TableShape) throws(ImportError) -> Record? {
        value.key.flatMap { lookups[table.name]?.rows[$0] }
    }

    /// Loads the needed columns of referenced tables into memory, because a dump has no index.
    private func load() throws(ImportError) {
        guard !isLoaded, !lookups.isEmpty else { return }
        isLoaded = true
        for table in tables {
            guard var lookup = lookups[table.name] else { continue }
            let cursor = SQLDumpCursor(
                DumpScanner(try open(), longest: limits.recordBytes, wanted: [table.name]), table)
            let names = table.columns.names.filter { lookup.columns.contains(ColumnIndex.folded($0)) }
            let columns = ColumnIndex(names)
            while let reading = try cursor.next() {
                guard case .record(let record) = reading, let key = record[lookup.key]?.key else { continue }
                let values = names.map { record[ColumnIndex.folded($0)] ?? .null }
                lookup.rows[key] = Record(row: record.row, columns: columns, values: values)
            }
            lookups[table.name] = lookup
        }
    }
}

private final class SQLDumpCursor: RecordCursor {
    private let scanner: DumpScanner
    private let table: TableShape
    /// The columns of the current statement.
    private var columns: ColumnIndex

    init(_ scanner: DumpScanner, _ table: TableShape) {
        self.scanner = scanner
        self.table = table
        columns = table.columns
    }

    var progress: Double? { scanner.progress }

    func next() throws(ImportError) -> RecordReading? {
        while let item = try scanner.next() {
            switch item {
            case .table, .rows: continue
            case .fault(let name, let line, let reason):
                if name == table.name { return .fault(line, reason) }
            case .row(_, let line, let names, let values):
                let wanted = names ?? table.columns.names
                if columns.names != wanted { columns = ColumnIndex(wanted) }
                guard values.count == wanted.count else { return .fault(line, .wrongColumnCount) }
                return .record(Record(row: line, columns: columns, values: values))
            }
        }
        return nil
    }
}
