import FoundationEssentials

/// Rows under headings on a terminal; tab-separated lines without headings in a pipe.
struct Table {
    private let headings: [String]
    private let now: Date
    private var records: [OutputRecord]

    /// - Parameter records: one for each row.
    init(_ headings: [String], _ records: [OutputRecord] = [], now: Date = Date()) {
        self.headings = headings
        self.records = records
        self.now = now
    }

    var isEmpty: Bool { records.isEmpty }

    mutating func append(_ record: OutputRecord) { records.append(record) }

    mutating func removeRows() { records = [] }

    /// Tab-separated lines, with absolute times and the words of the JSON output.
    var lines: String {
        rows(isTerminal: false).map { $0.map(Printable.escape).joined(separator: "\t") + "\n" }.joined()
    }

    /// Columns under their headings.
    ///
    /// - Parameters:
    ///   - width: the terminal's. Columns are cut to fit it, ids never.
    ///   - shown: which columns to show, if that is decided: all pages of a list show the same.
    func columns(width: Int, style: Style, hasHeadings: Bool = true, shown: [Bool]? = nil) -> String {
        let rows = rows(isTerminal: true).map { $0.map { Printable.shortened($0, to: 512) } }
        guard !rows.isEmpty else { return "" }
        let shown = shown ?? self.filled(rows)
        let kept = headings.indices.filter { shown[$0] }
        let widths = Self.fitted(
            kept.map { column in rows.map { $0[column] } }, under: kept.map { headings[$0] }, to: width)
        // On a narrow terminal lines would break anywhere, so each cell gets its own line.
        if widths.reduce(2 * (widths.count - 1), +) > width, let first = kept.first, kept.count > 1 {
            return rows.map { Self.stacked($0, kept, headings, first, width, style) }.joined()
        }
        func line(_ cells: [String]) -> String {
            var line = ""
            for (column, width) in zip(kept, widths) {
                let cell = DisplayWidth.cut(cells[column], to: width)
                line += cell + String(repeating: " ", count: max(0, width - DisplayWidth.of(cell)) + 2)
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }
        let heading = line(headings)
        return (hasHeadings ? style.bold(String(heading.dropLast())) + "\n" : "") + rows.map(line).joined()
    }

    /// The non-empty columns.
    var filled: [Bool] { filled(rows(isTerminal: true)) }

    private func filled(_ rows: [[String]]) -> [Bool] {
        headings.indices.map { column in rows.contains { !$0[column].isEmpty } }
    }

    private func rows(isTerminal: Bool) -> [[String]] {
        records.map { $0.row(under: headings, isTerminal: isTerminal, now: now) }
    }
}

extension Table {
    private static func stacked(
        _ cells: [String], _ kept: [Int], _ headings: [String], _ first: Int, _ width: Int, _ style: Style
    ) -> String {
        let lines = kept.dropFirst().filter { !cells[$0].isEmpty }.map { column in
            let heading = headings[column].lowercased()
            return
                "  \(style.dim(heading))  \(DisplayWidth.cut(cells[column], to: max(8, width - heading.count - 4)))\n"
        }
        return style.bold(cells[first]) + "\n" + lines.joined()
    }

    /// Columns are never cut to less than this: the rest would be meaningless.
    private static let leastWidth = 8

    /// The widths of columns on a terminal: the widest shrink first.
    private static func fitted(_ columns: [[String]], under headings: [String], to width: Int) -> [Int] {
        var widths = zip(columns, headings).map { cells, heading in
            cells.reduce(DisplayWidth.of(heading)) { max($0, DisplayWidth.of($1)) }
        }
        let least = zip(columns, headings).enumerated().map { index, column in
            column.0.contains(where: isID) ? widths[index] : max(leastWidth, DisplayWidth.of(column.1))
        }
        var excess = widths.reduce(2 * (widths.count - 1), +) - width
        while excess > 0 {
            let open = widths.indices.filter { widths[$0] > least[$0] }
            guard let widest = open.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    /// Ids are meant to be copied: 26 letters and digits.
    private static func isID(_ text: String) -> Bool {
        text.utf8.count == 26
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
    }
}
