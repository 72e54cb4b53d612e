import OAuthClient

/// One JSON object per line. A carriage return before the line feed is ignored, U+2028 is data, and a line that is not
/// JSON does not stop the reading.
final class JSONLinesContainer: TableContainer {
    let format = SourceFormat.jsonLines
    let tables: [TableShape]
    private let open: () throws(ImportError) -> ByteStream
    private let limits: ImportLimits

    /// The number of lines that determine the columns. One would not do: it may be atypical, or omit null values.
    private static let linesOfShape = 200

    /// - Parameter tables: The result of an earlier detection; nil to detect.
    init(
        limits: ImportLimits, tables: [TableShape]? = nil, open: @escaping () throws(ImportError) -> ByteStream
    ) throws(ImportError) {
        self.open = open
        self.limits = limits
        self.tables = if let tables { tables } else { [try Self.shape(JSONLinesCursor(try open(), limits), limits)] }
    }

    private static func shape(_ cursor: JSONLinesCursor, _ limits: ImportLimits) throws(ImportError) -> TableShape {
        var names: [String] = []
        var known: Set<String> = []
        var (isAny, isRecord) = (false, false)
        var tooLong: Int?
        for _ in 0..<linesOfShape {
            guard let reading = try cursor.next() else { break }
            isAny = true
            if case .fault(let line, .tooLong) = reading { tooLong = tooLong ?? line }
            guard case .record(let record) = reading else { continue }
            isRecord = true
            guard known.count < 2_000 else { continue }
            for name in record.columns.names where known.insert(name).inserted { names.append(name) }
        }
        if !isRecord, let tooLong { throw ImportError.tooLong(line: tooLong, limits) }
        guard isRecord || !isAny else {
            throw ImportError(
                .unknownFormat, "none of the source's first lines is a JSON object",
                hint: "write each object whole on a line of its own: jq -c . FILE")
        }
        return TableShape(name: "", columns: ColumnIndex(names))
    }

    func rows(of table: TableShape) throws(ImportError) -> any RecordCursor { JSONLinesCursor(try open(), limits) }
}

private final class JSONLinesCursor: RecordCursor {
    private let stream: ByteStream
    private let limits: ImportLimits
    /// The columns of the last line, which the next one usually shares.
    private var columns = ColumnIndex([])

    init(_ stream: ByteStream, _ limits: ImportLimits) {
        self.stream = stream
        self.limits = limits
        stream.skipByteOrderMark()
    }

    func next() throws(ImportError) -> RecordReading? {
        while let line = stream.nextLine(longest: limits.recordBytes) {
            if line.isTooLong { return .fault(line.number, .tooLong) }
            if line.isBlank { continue }
            return reading(of: line)
        }
        try stream.check()
        return nil
    }

    var progress: Double? { stream.progress }

    private func reading(of line: TextLine) -> RecordReading {
        do throws(JSONError) {
            let object = try JSONObject(document: line.bytes)
            if !object.hasNames(columns.names) { columns = ColumnIndex(object.names) }
            return .record(Record(row: line.number, columns: columns, object: object))
        } catch {
            switch error {
            case .notUTF8: return .fault(line.number, .notUTF8)
            case .notAnObject:
                let isJSON = (try? JSONObject(document: Array("{\"v\":".utf8) + line.bytes + Array("}".utf8))) != nil
                return .fault(line.number, isJSON ? .notAnObject : .notJSON)
            default: return .fault(line.number, .notJSON)
            }
        }
    }
}
