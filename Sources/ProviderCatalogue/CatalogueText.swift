/// Reads the part of YAML that catalogues of providers use: block and flow maps and lists, plain, quoted and block
/// scalars, comments.
///
/// The file comes from elsewhere, so everything is bounded, and whatever could give one text two meanings is refused:
/// anchors, aliases, tags, merge keys, several documents, duplicate names, tabs as indentation.
package struct CatalogueText {
    package static let maximumBytes = 4 * 1_024 * 1_024
    /// Each level is a recursion.
    package static let maximumDepth = 32

    struct Line {
        /// Without the indentation, and without the line's end.
        var content: ArraySlice<UInt8>
        var indent: Int
        var hasTab = false

        var isBlank: Bool { content.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
        var isSkipped: Bool { isBlank || content.first == UInt8(ascii: "#") }
        /// `- …`, or a dash alone.
        var isItem: Bool {
            content.first == UInt8(ascii: "-") && (content.count == 1 || content.dropFirst().first == 0x20)
        }
    }

    var lines: [Line] = []
    var index = 0

    /// - Throws: ``CatalogueError``, which names the line.
    package static func read(_ bytes: [UInt8]) throws(CatalogueError) -> CatalogueValue {
        guard bytes.count <= maximumBytes else {
            throw CatalogueError(line: nil, message: "the file is larger than 4 MiB")
        }
        var text = try CatalogueText(bytes)
        let value = try text.block(deeperThan: -1, depth: 0)
        if let line = text.next() {
            if [Array("---".utf8), Array("...".utf8)].contains(Array(line.content)) {
                throw text.failure("only one document is read")
            }
            throw text.failure("the indentation does not fit the lines before it")
        }
        return value
    }

    private init(_ bytes: [UInt8]) throws(CatalogueError) {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        for var content in rest.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if content.last == 0x0D { content.removeLast() }
            index = lines.count
            guard String(validating: content, as: UTF8.self) != nil else { throw failure("this is not UTF-8") }
            guard !content.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) else {
                throw failure("there is a control character")
            }
            let indent = content.prefix { $0 == 0x20 }.count
            content = content.dropFirst(indent)
            lines.append(Line(content: content, indent: indent, hasTab: content.first == 0x09))
        }
        index = 0
        // What follows the last line's end is no line.
        if lines.count > 1, lines.last?.content.isEmpty == true, lines.last?.indent == 0 { lines.removeLast() }
        if let first = next(), first.indent == 0, first.content.elementsEqual("---".utf8) { index += 1 }
    }

    func failure(_ message: String, at line: Int? = nil) -> CatalogueError {
        CatalogueError(line: (line ?? index) + 1, message: message)
    }

    /// The next line with content, which ``index`` then names.
    mutating func next() -> Line? {
        while index < lines.count, lines[index].isSkipped { index += 1 }
        return index < lines.count ? lines[index] : nil
    }

    // MARK: Blocks

    /// The node that begins on the next line, if that is indented more than its parent; null otherwise.
    private mutating func block(deeperThan parent: Int, depth: Int) throws(CatalogueError) -> CatalogueValue {
        guard let line = next(), line.indent > parent else { return .null }
        guard depth < Self.maximumDepth else { throw failure("more than \(Self.maximumDepth) levels are not read") }
        guard !line.hasTab else { throw failure("a tab is no indentation") }
        if line.isItem { return try list(at: line.indent, depth: depth) }
        if try key(of: line.content) != nil { return try map(at: line.indent, depth: depth) }
        return try scalar(line.content, parent: parent, depth: depth)
    }

    private mutating func map(at indent: Int, depth: Int) throws(CatalogueError) -> CatalogueValue {
        var map = CatalogueMap()
        while let line = next(), line.indent == indent, !line.isItem {
            guard !line.hasTab else { throw failure("a tab is no indentation") }
            guard let (name, rest) = try key(of: line.content) else { throw failure("expected a name and a colon") }
            guard map[name] == nil else { throw failure("this name was given before") }
            map[name] = try value(after: rest, indent: indent, depth: depth) { next in
                // A list may begin in the column of its name.
                next.indent > indent ? indent : next.indent == indent && next.isItem ? indent - 1 : nil
            }
        }
        return .map(map)
    }

    private mutating func list(at indent: Int, depth: Int) throws(CatalogueError) -> CatalogueValue {
        var list: [CatalogueValue] = []
        while let line = next(), line.indent == indent, line.isItem {
            let rest = line.content.dropFirst().drop { $0 == 0x20 }
            let isNested = rest.first == UInt8(ascii: "-") && (rest.count == 1 || rest.dropFirst().first == 0x20)
            if !rest.isEmpty, rest.first != UInt8(ascii: "#") {
                let hasKey = try key(of: rest) != nil
                if isNested || hasKey {
                    // What follows the dash is the first line of a block of its own.
                    lines[index].indent = indent + line.content.count - rest.count
                    lines[index].content = rest
                    list.append(try block(deeperThan: indent, depth: depth + 1))
                    continue
                }
            }
            list.append(
                try value(after: rest, indent: indent, depth: depth) { next in next.indent > indent ? indent : nil })
        }
        return .list(list)
    }

    /// The value behind a name or a dash, on the same line or below.
    ///
    /// - Parameter parent: the indentation that the value's lines exceed, if the next line belongs to it.
    private mutating func value(
        after rest: ArraySlice<UInt8>, indent: Int, depth: Int, below parent: (Line) -> Int?
    ) throws(CatalogueError) -> CatalogueValue {
        guard rest.isEmpty || rest.first == UInt8(ascii: "#") else {
            return try scalar(rest, parent: indent, depth: depth + 1)
        }
        index += 1
        guard let next = next(), let parent = parent(next) else { return .null }
        return try block(deeperThan: parent, depth: depth + 1)
    }

    /// The name at the beginning of a line and what follows its colon; nil if there is none.
    func key(of content: ArraySlice<UInt8>) throws(CatalogueError) -> (name: String, rest: ArraySlice<UInt8>)? {
        guard let first = content.first else { return nil }
        let colon: Int
        let name: String
        if first == UInt8(ascii: "'") || first == UInt8(ascii: "\"") {
            guard let end = Self.closing(content),
                let mark = content[(end + 1)...].firstIndex(where: { $0 != 0x20 }), content[mark] == UInt8(ascii: ":"),
                Self.isBreak(content, mark + 1)
            else { return nil }
            name = try quoted(content[...end])
            colon = mark
        } else {
            guard !"{[|>".utf8.contains(first) else { return nil }
            guard
                let mark = content.indices.first(where: {
                    content[$0] == UInt8(ascii: ":") && Self.isBreak(content, $0 + 1)
                }), !content[..<mark].contains(sequence: " #".utf8)
            else { return nil }
            name = String(decoding: content[..<mark], as: UTF8.self).trimmed
            try refuseIndicator(first)
            guard name != "<<", !name.isEmpty else { throw failure("merge keys and empty names are not read") }
            colon = mark
        }
        return (name, content[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 })
    }

    func refuseIndicator(_ first: UInt8) throws(CatalogueError) {
        switch first {
        case UInt8(ascii: "&"), UInt8(ascii: "*"), UInt8(ascii: "!"):
            throw failure("anchors, aliases and tags are not read")
        case UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "`"), UInt8(ascii: "%"):
            throw failure("a plain text cannot begin with this character")
        default: return
        }
    }

    static func isBreak(_ content: ArraySlice<UInt8>, _ index: Int) -> Bool {
        index >= content.endIndex || content[index] == 0x20 || content[index] == 0x09
    }
}

extension Collection where Element: Equatable {
    func contains(sequence: some Collection<Element>) -> Bool {
        indices.contains { self[$0...].starts(with: sequence) }
    }
}

extension String {
    var trimmed: String {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
