extension CatalogueText {
    /// A scalar or a flow collection that begins on the current line, and may continue on lines below.
    ///
    /// - Parameter parent: the indentation that lines of the scalar exceed.
    mutating func scalar(
        _ rest: ArraySlice<UInt8>, parent: Int, depth: Int
    ) throws(CatalogueError) -> CatalogueValue {
        switch rest.first {
        case UInt8(ascii: "|"), UInt8(ascii: ">"): return .text(try blockScalar(rest, parent: parent))
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["):
            var flow = CatalogueFlow(self, rest)
            let value = try flow.value(depth: depth)
            try flow.finishLine()
            index = flow.line + 1
            return value
        default: return try plain(rest, parent: parent)
        }
    }

    // MARK: Plain

    private mutating func plain(_ rest: ArraySlice<UInt8>, parent: Int) throws(CatalogueError) -> CatalogueValue {
        if let first = rest.first { try refuseIndicator(first) }
        var (text, ended) = Self.uncommented(rest)
        guard !Self.hasColon(text) else { throw failure("a name within a plain text: put quotes around the text") }
        index += 1
        var words = String(decoding: text, as: UTF8.self).trimmed
        var breaks = 0
        while !ended, index < lines.count {
            let line = lines[index]
            if line.isBlank {
                breaks += 1
                index += 1
                continue
            }
            guard line.indent > parent, line.content.first != UInt8(ascii: "#") else { break }
            (text, ended) = Self.uncommented(line.content)
            guard !Self.hasColon(text) else { throw failure("a name within a plain text: check the indentation") }
            words += breaks == 0 ? " " : String(repeating: "\n", count: breaks)
            words += String(decoding: text, as: UTF8.self).trimmed
            breaks = 0
            index += 1
        }
        return Self.meaning(of: words)
    }

    static func meaning(of words: String) -> CatalogueValue {
        ["", "~", "null", "Null", "NULL"].contains(words) ? .null : .text(words)
    }

    private static func uncommented(_ text: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ended: Bool) {
        let mark = text.indices.first {
            text[$0] == UInt8(ascii: "#") && $0 > text.startIndex && (text[$0 - 1] == 0x20 || text[$0 - 1] == 0x09)
        }
        return mark.map { (text[..<$0], true) } ?? (text, false)
    }

    private static func hasColon(_ text: ArraySlice<UInt8>) -> Bool {
        text.indices.contains { text[$0] == UInt8(ascii: ":") && isBreak(text, $0 + 1) }
    }

    // MARK: Quoted

    /// The index of the quote that ends a text on its first line.
    static func closing(_ content: ArraySlice<UInt8>) -> Int? {
        guard let quote = content.first else { return nil }
        var at = content.startIndex + 1
        while at < content.endIndex {
            if content[at] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                at += 2
            } else if content[at] != quote {
                at += 1
            } else if quote == UInt8(ascii: "'"), at + 1 < content.endIndex, content[at + 1] == quote {
                at += 2
            } else {
                return at
            }
        }
        return nil
    }

    /// A quoted text of one line, with its quotes.
    func quoted(_ content: ArraySlice<UInt8>) throws(CatalogueError) -> String {
        var flow = CatalogueFlow(self, content)
        return try flow.value(depth: 0).text ?? ""
    }

    // MARK: Blocks

    private struct BlockHeader {
        var isFolded = false
        var chomping: UInt8?
        var indentation: Int?
    }

    private func blockHeader(_ rest: ArraySlice<UInt8>) throws(CatalogueError) -> BlockHeader {
        var header = BlockHeader(isFolded: rest.first == UInt8(ascii: ">"))
        let words = rest.dropFirst()
        let mark = words.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? words.endIndex
        for byte in words[..<mark] {
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"), header.chomping == nil {
                header.chomping = byte
            } else if (0x31...0x39).contains(byte), header.indentation == nil {
                header.indentation = Int(byte - 0x30)
            } else {
                throw failure("the beginning of a block of text cannot be read")
            }
        }
        let comment = words[mark...].drop { $0 == 0x20 || $0 == 0x09 }
        guard comment.isEmpty || comment.first == UInt8(ascii: "#") else {
            throw failure("a block of text begins on the next line")
        }
        return header
    }

    private mutating func blockScalar(_ rest: ArraySlice<UInt8>, parent: Int) throws(CatalogueError) -> String {
        let header = try blockHeader(rest)
        index += 1
        var indent = header.indentation.map { max(parent, 0) + $0 }
        var texts: [String] = []
        while index < lines.count {
            let line = lines[index]
            // A line without text may be shorter, or hold blanks that belong to it.
            if line.content.isEmpty, line.indent <= indent ?? .max {
                texts.append("")
            } else {
                let first = indent ?? line.indent
                guard line.indent > parent, line.indent >= first else { break }
                indent = first
                texts.append(
                    String(repeating: " ", count: line.indent - first) + String(decoding: line.content, as: UTF8.self))
            }
            index += 1
        }
        let end = texts.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0
        let blanks = texts.count - end
        texts = Array(texts[..<end])
        let text = header.isFolded ? Self.folded(texts) : texts.joined(separator: "\n")
        switch header.chomping {
        case UInt8(ascii: "-"): return text
        case UInt8(ascii: "+"): return text + String(repeating: "\n", count: blanks + (texts.isEmpty ? 0 : 1))
        default: return texts.isEmpty ? "" : text + "\n"
        }
    }

    /// Lines become one, except around blank lines and lines that are indented more.
    private static func folded(_ texts: [String]) -> String {
        var text = ""
        var breaks = 0
        var wasDeeper = false
        for (number, line) in texts.enumerated() {
            if line.isEmpty {
                breaks += 1
                continue
            }
            let isDeeper = line.hasPrefix(" ") || line.hasPrefix("\t")
            if number == breaks {
                text += String(repeating: "\n", count: breaks)
            } else if breaks == 0 {
                text += isDeeper || wasDeeper ? "\n" : " "
            } else {
                text += String(repeating: "\n", count: breaks + (isDeeper || wasDeeper ? 1 : 0))
            }
            text += line
            (breaks, wasDeeper) = (0, isDeeper)
        }
        return text
    }
}
