/// The CSV dialect of a file, detected from its first line.
struct CSVDialect: Equatable {
    let separator: Separator
    /// Whether the first line is Excel's `sep=;` and not a record.
    var hasSeparatorLine = false
    /// Whether backslashes within values are escapes, as in the output of `mysql --batch` and `psql`.
    var isEscaped = false

    static let comma = CSVDialect(separator: .comma)

    /// - Parameter head: The first bytes, in UTF-8. The initializer returns nil if the first line has only one value.
    init?(_ head: ArraySlice<UInt8>, _ plan: ImportPlan, isUTF16: Bool = false) {
        let text = head.drop { $0 <= 0x20 && $0 != 0x09 }
        let line = text.prefix { $0 != 0x0A && $0 != 0x0D }
        if let stated = Self.stated(line) {
            self.init(separator: plan.separator ?? stated, hasSeparatorLine: true)
        } else if let separator = plan.separator ?? Self.commonest(line) {
            self.init(separator: separator)
        } else {
            return nil
        }
        // Spreadsheets write text in UTF-16, and escape nothing.
        isEscaped = separator == .tab && !isUTF16
    }

    private init(separator: Separator, hasSeparatorLine: Bool = false) {
        self.separator = separator
        self.hasSeparatorLine = hasSeparatorLine
    }

    /// The separator of the first line, if the line does not contain the plan's separator.
    static func other(in head: ArraySlice<UInt8>, _ plan: ImportPlan) -> Separator? {
        let line = head.drop { $0 <= 0x20 && $0 != 0x09 }.prefix { $0 != 0x0A && $0 != 0x0D }
        guard let given = plan.separator, stated(line) == nil, !line.contains(given.byte) else { return nil }
        return commonest(line)
    }

    private static func stated(_ line: ArraySlice<UInt8>) -> Separator? {
        let text = String(decoding: line.prefix(16), as: UTF8.self).filter { $0 != "\"" && $0 != " " }
        guard text.count == 5, text.lowercased().hasPrefix("sep=") else { return nil }
        return Separator.allCases.first { String(UnicodeScalar($0.byte)) == text.suffix(1) }
    }

    /// The most frequent separator between values; in a tie, the first.
    private static func commonest(_ line: ArraySlice<UInt8>) -> Separator? {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in line {
            if byte == 0 { return nil }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() } else if !isQuoted { counts[byte, default: 0] += 1 }
        }
        let best = Separator.allCases.max { (counts[$0.byte] ?? 0) < (counts[$1.byte] ?? 0) }
        return best.flatMap { counts[$0.byte] == nil ? nil : $0 }
    }
}
