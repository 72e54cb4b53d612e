/// A list of any length, printed page by page: memory does not grow with it, and JSON stays one document.
struct Listing {
    static let pageSize = 1_000

    private let name: String
    private let invocation: Invocation
    private var page: Table
    private var isFirstPage = true
    private var count = 0

    init(_ name: String, _ headings: [String], _ invocation: Invocation) {
        self.name = name
        self.invocation = invocation
        page = Table(headings)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ sheet: Sheet) throws {
        if invocation.isJSON {
            let separator = count == 0 ? "{\(JSONValue.string(name).text):[\n" : ",\n"
            try invocation.console.write(separator + sheet.json.text, to: .output)
        } else {
            page.append(sheet, now: invocation.now)
        }
        count += 1
    }

    /// Appends page after page, each from the cursor that the one before it gave, and ends the list.
    mutating func appendAll<Cursor>(
        _ page: (_ cursor: Cursor?) async throws -> (sheets: [Sheet], next: Cursor?)
    ) async throws {
        var cursor: Cursor?
        repeat {
            let page = try await page(cursor)
            for sheet in page.sheets { try append(sheet) }
            try endPage()
            cursor = page.next
        } while cursor != nil
        try finish()
    }

    private mutating func endPage() throws {
        guard !invocation.isJSON, !page.isEmpty else { return }
        let text = page.text(isTerminal: invocation.isTerminal, style: invocation.style, hasHeadings: isFirstPage)
        try invocation.console.write(text, to: .output)
        page.removeRows()
        isFirstPage = false
    }

    mutating func finish() throws {
        try endPage()
        if invocation.isJSON {
            try invocation.console.write(count == 0 ? "{\(JSONValue.string(name).text):[]}\n" : "\n]}\n", to: .output)
        }
    }
}
