/// Reads quoted texts and flow collections, character by character across lines.
struct CatalogueFlow {
    private let text: CatalogueText
    private(set) var line: Int
    private var rest: ArraySlice<UInt8>
    private let firstLine: Int

    init(_ text: CatalogueText, _ rest: ArraySlice<UInt8>) {
        self.text = text
        self.rest = rest
        line = text.index
        firstLine = text.index
    }

    private func failure(_ message: String) -> CatalogueError { text.failure(message, at: line) }
    private var unfinished: CatalogueError { text.failure("what begins here has no end", at: firstLine) }

    private mutating func nextLine() throws(CatalogueError) {
        guard line + 1 < text.lines.count else { throw unfinished }
        line += 1
        rest = text.lines[line].content
    }

    private mutating func skipBlanks() throws(CatalogueError) {
        while true {
            let blanks = rest.prefix { $0 == 0x20 || $0 == 0x09 }.count
            let atStart = rest.startIndex == text.lines[line].content.startIndex
            rest = rest.dropFirst(blanks)
            guard rest.isEmpty || (rest.first == UInt8(ascii: "#") && (blanks > 0 || atStart)) else { return }
            try nextLine()
        }
    }

    /// Checks that nothing but a comment follows on the line.
    func finishLine() throws(CatalogueError) {
        let more = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard more.isEmpty || (more.first == UInt8(ascii: "#") && more.count < rest.count) else {
            throw failure("nothing may follow on this line")
        }
    }

    mutating func value(depth: Int) throws(CatalogueError) -> CatalogueValue {
        guard depth < CatalogueText.maximumDepth else {
            throw failure("more than \(CatalogueText.maximumDepth) levels are not read")
        }
        switch rest.first {
        case UInt8(ascii: "'"): return .text(try singleQuoted())
        case UInt8(ascii: "\""): return .text(try doubleQuoted())
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "{"): return try map(depth: depth)
        default: return CatalogueText.meaning(of: try plain())
        }
    }

    // MARK: Collections

    private mutating func list(depth: Int) throws(CatalogueError) -> CatalogueValue {
        var list: [CatalogueValue] = []
        rest = rest.dropFirst()
        while try !ends(with: UInt8(ascii: "]")) {
            list.append(try value(depth: depth + 1))
            try separate(before: UInt8(ascii: "]"))
        }
        return .list(list)
    }

    private mutating func map(depth: Int) throws(CatalogueError) -> CatalogueValue {
        var map = CatalogueMap()
        rest = rest.dropFirst()
        while try !ends(with: UInt8(ascii: "}")) {
            guard let name = try value(depth: depth + 1).text, name != "<<" else {
                throw failure("expected a name")
            }
            guard map[name] == nil else { throw failure("this name was given before") }
            try skipBlanks()
            var member = CatalogueValue.null
            if rest.first == UInt8(ascii: ":") {
                rest = rest.dropFirst()
                try skipBlanks()
                if !",}".utf8.contains(rest.first ?? 0) { member = try value(depth: depth + 1) }
            }
            map[name] = member
            try separate(before: UInt8(ascii: "}"))
        }
        return .map(map)
    }

    private mutating func ends(with bracket: UInt8) throws(CatalogueError) -> Bool {
        try skipBlanks()
        guard rest.first == bracket else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func separate(before bracket: UInt8) throws(CatalogueError) {
        try skipBlanks()
        if rest.first == UInt8(ascii: ",") {
            rest = rest.dropFirst()
        } else if rest.first != bracket {
            throw failure("expected a comma or a closing bracket")
        }
    }

    // MARK: Texts

    private mutating func plain() throws(CatalogueError) -> String {
        guard let first = rest.first else { throw unfinished }
        try text.refuseIndicator(first)
        let end =
            rest.indices.first { at in
                if ",[]{}".utf8.contains(rest[at]) { return true }
                if rest[at] == UInt8(ascii: ":") {
                    return CatalogueText.isBreak(rest, at + 1) || ",]}".utf8.contains(rest[at + 1])
                }
                return rest[at] == UInt8(ascii: "#") && at > rest.startIndex && rest[at - 1] == 0x20
            } ?? rest.endIndex
        guard end > rest.startIndex else { throw failure("expected a value") }
        let words = String(decoding: rest[..<end], as: UTF8.self).trimmed
        rest = rest[end...]
        return words
    }

    private mutating func singleQuoted() throws(CatalogueError) -> String {
        let quote = UInt8(ascii: "'")
        var bytes: [UInt8] = []
        rest = rest.dropFirst()
        while true {
            guard let byte = rest.popFirst() else {
                try fold(&bytes)
                continue
            }
            if byte != quote {
                bytes.append(byte)
            } else if rest.first == quote {
                rest = rest.dropFirst()
                bytes.append(quote)
            } else {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    private mutating func doubleQuoted() throws(CatalogueError) -> String {
        var bytes: [UInt8] = []
        rest = rest.dropFirst()
        while true {
            guard let byte = rest.popFirst() else {
                try fold(&bytes)
                continue
            }
            if byte == UInt8(ascii: "\"") { return String(decoding: bytes, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let escape = rest.popFirst() else {
                try nextLine()
                continue
            }
            bytes += try character(escape)
        }
    }

    /// A line's end within quotes: a blank, or as many ends as there are blank lines.
    private mutating func fold(_ bytes: inout [UInt8]) throws(CatalogueError) {
        while bytes.last == 0x20 || bytes.last == 0x09 { bytes.removeLast() }
        var breaks = 0
        repeat {
            try nextLine()
            if text.lines[line].isBlank { breaks += 1 }
        } while text.lines[line].isBlank
        bytes += breaks == 0 ? [0x20] : Array(repeating: 0x0A, count: breaks)
    }

    private mutating func character(_ escape: UInt8) throws(CatalogueError) -> [UInt8] {
        switch escape {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), 0x20: return [escape]
        case UInt8(ascii: "x"): return try scalar(digits: 2)
        case UInt8(ascii: "u"): return try scalar(digits: 4)
        case UInt8(ascii: "U"): return try scalar(digits: 8)
        default: throw failure("this escape is not read")
        }
    }

    private mutating func scalar(digits: Int) throws(CatalogueError) -> [UInt8] {
        let text = String(decoding: rest.prefix(digits), as: UTF8.self)
        guard text.utf8.count == digits, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let scalar = UInt32(text, radix: 16).flatMap(Unicode.Scalar.init)
        else { throw failure("this escape is not read") }
        rest = rest.dropFirst(digits)
        return Array(String(Character(scalar)).utf8)
    }
}
