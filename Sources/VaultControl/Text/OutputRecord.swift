import FoundationEssentials

/// The description of one thing, which becomes its JSON object, its lines for a person and its row of a table.
struct OutputRecord: ExpressibleByArrayLiteral {
    private let fields: [Field]

    init(arrayLiteral fields: Field...) { self.fields = fields }

    init(_ fields: [Field]) { self.fields = fields }

    static func + (first: OutputRecord, second: OutputRecord) -> OutputRecord {
        OutputRecord(first.fields + second.fields)
    }

    static func += (first: inout OutputRecord, second: OutputRecord) { first = first + second }

    /// Labels and text in two columns on a terminal; tab-separated in a pipe.
    func text(isTerminal: Bool, style: Style, now: Date) -> String {
        let lines = fields.compactMap { $0.line(isTerminal: isTerminal, now: now) }
        guard isTerminal else { return lines.map { "\($0.label)\t\(Printable.escape($0.words))\n" }.joined() }
        let width = lines.reduce(0) { max($0, $1.label.count) }
        return lines.map { line in
            let padding = String(repeating: " ", count: width - line.label.count + 2)
            return style.dim(line.label) + padding + Printable.shortened(line.words, to: 512) + "\n"
        }.joined()
    }

    func row(under headings: [String], isTerminal: Bool, now: Date) -> [String] {
        headings.map { heading in
            fields.lazy.compactMap { $0.cell(under: heading, isTerminal: isTerminal, now: now) }.first ?? ""
        }
    }
}

extension OutputRecord: JSONConvertible {
    var json: JSONValue {
        .object(fields.compactMap { field in field.key.map { ($0, field.value) } })
    }
}
