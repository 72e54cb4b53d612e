import FoundationEssentials

/// Rows under headings on a terminal; tab-separated lines without headings in a pipe.
struct Table {
    private let headings: [String]
    private(set) var rows: [[String]] = []

    /// - Parameter sheets: one for each row.
    init(_ headings: [String], _ sheets: [Sheet] = [], now: Date = Date()) {
        self.headings = headings
        for sheet in sheets { append(sheet, now: now) }
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row of raw texts; they are escaped where they are written.
    mutating func append(_ sheet: Sheet, now: Date) {
        rows.append(sheet.row(under: headings, now: now))
    }

    mutating func removeRows() { rows = [] }

    func text(isTerminal: Bool, style: Style, hasHeadings: Bool = true) -> String {
        guard isTerminal else {
            return rows.map { $0.map(Printable.escape).joined(separator: "\t") + "\n" }.joined()
        }
        let shown = rows.map { $0.map { Printable.shortened($0, to: 48) } }
        let widths = headings.indices.map { column in
            shown.reduce(headings[column].count) { max($0, $1[column].count) }
        }
        func line(_ cells: [String]) -> String {
            var line = ""
            for (cell, width) in zip(cells, widths) {
                line += cell + String(repeating: " ", count: width - cell.count + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        guard !rows.isEmpty else { return "" }
        return (hasHeadings ? style.bold(line(headings)) + "\n" : "") + shown.map { line($0) + "\n" }.joined()
    }
}
