/// A list of any length, printed page by page: memory does not grow with it, and JSON remains one document.
struct Listing {
    static let pageSize = 1_000
    /// When a big file is read, the first lines should appear at once.
    static let firstPageSize = 100

    private let name: String
    private let headings: [String]
    private let invocation: Invocation
    private var page: Table
    private var isFirstPage = true
    /// The columns on a terminal; the first page decides.
    private var shown: [Bool]?
    private var count = 0
    /// JSON not yet written: a call for each row would take longer than the row.
    private var pending = ""

    init(_ name: String, _ headings: [String], _ invocation: Invocation) {
        self.name = name
        self.headings = headings
        self.invocation = invocation
        page = Table(headings)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ record: OutputRecord) throws {
        if invocation.isJSON {
            pending += count == 0 ? "{\(JSONValue.string(name).text):[\n" : ",\n"
            pending += record.json.text
        } else {
            page.append(record)
        }
        count += 1
    }

    /// Appends page after page, each from the previous page's cursor, and ends the list. Once the task is cancelled, it
    /// stops before the next page.
    ///
    /// - Parameters:
    ///   - name: the name of a further member of the JSON document.
    ///   - isNamed: whether the document has that member.
    ///   - next: the member's value, once everything is listed.
    mutating func appendAll<Cursor>(
        naming name: String = "next", if isNamed: Bool = false,
        _ page: (_ cursor: Cursor?) async throws -> (records: [OutputRecord], next: Cursor?),
        next: () -> String? = { nil }
    ) async throws {
        var cursor: Cursor?
        repeat {
            try Task.checkCancellation()
            let page = try await page(cursor)
            for record in page.records { try append(record) }
            try endPage(isOnly: isFirstPage && page.next == nil)
            cursor = page.next
        } while cursor != nil
        try finish(isNamed ? (name, next()) : nil)
    }

    private mutating func endPage(isOnly: Bool = false) throws {
        if invocation.isJSON {
            guard !pending.isEmpty else { return }
            try invocation.console.write(pending, to: .output)
            pending.removeAll(keepingCapacity: true)
            return
        }
        guard !page.isEmpty else { return }
        if invocation.isTerminal {
            // Only the last page shows which columns stay empty.
            let shown = self.shown ?? (isOnly ? page.filled : headings.map { _ in true })
            self.shown = shown
            let text = page.columns(
                width: invocation.console.width, style: invocation.style, hasHeadings: isFirstPage, shown: shown)
            try invocation.console.write(text, to: .output)
        } else {
            try invocation.console.write(page.lines, to: .output)
        }
        page.removeRows()
        isFirstPage = false
    }

    mutating func finish(_ further: (name: String, value: String?)? = nil) throws {
        try endPage(isOnly: isFirstPage)
        if invocation.isJSON {
            let member = further.map { ",\(JSONValue.string($0.name).text):\($0.value.json.text)" } ?? ""
            let end = count == 0 ? "{\(JSONValue.string(name).text):[]" : "\n]"
            try invocation.console.write("\(end)\(member)}\n", to: .output)
        }
    }
}
