/// The tokens of a SQL dump. None of it is ever executed.
final class DumpLexer {
    let stream: ByteStream
    let longest: Int
    /// Whether a backslash in a plain string begins an escape, and `KEY` begins no column, as in MySQL.
    let isMySQL: Bool

    private static let longestName = 256

    init(_ stream: ByteStream, longest: Int) {
        self.stream = stream
        self.longest = longest
        stream.skipByteOrderMark()
        let head = String(decoding: stream.head().prefix(4_096), as: UTF8.self)
        isMySQL = ["MySQL dump", "MariaDB dump", "phpMyAdmin", "`"].contains { head.contains($0) }
    }

    /// Skips white space and comments. MySQL's conditional comments contain settings, never rows.
    func skipBlank() {
        while let byte = stream.peek() {
            switch byte {
            case 0x09, 0x0A, 0x0D, 0x20: _ = stream.next()
            case UInt8(ascii: "-"):
                guard takes("--") else { return }
                skipLine()
            case UInt8(ascii: "#") where isMySQL: skipLine()
            case UInt8(ascii: "/"):
                guard takes("/*") else { return }
                skipComment()
            default: return
            }
        }
    }

    func skipLine() {
        while let byte = stream.next(), byte != 0x0A {}
    }

    private func skipComment() {
        var last: UInt8 = 0
        while let byte = stream.next() {
            if last == UInt8(ascii: "*"), byte == UInt8(ascii: "/") { return }
            last = byte
        }
    }

    /// Consumes both bytes if they come next.
    private func takes(_ pair: StaticString) -> Bool {
        let text = "\(pair)".utf8.map { $0 }
        guard stream.peek(second: text[1], after: text[0]) else { return false }
        _ = stream.next()
        _ = stream.next()
        return true
    }

    func take(_ byte: UInt8) -> Bool {
        skipBlank()
        guard stream.peek() == byte else { return false }
        _ = stream.next()
        return true
    }

    /// A word as written; empty if something else comes next.
    func word() -> String {
        skipBlank()
        var bytes: [UInt8] = []
        while let byte = stream.peek(), Self.isNameByte(byte), bytes.count < Self.longestName {
            bytes.append(byte)
            _ = stream.next()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
            true
        default: false
        }
    }

    /// A name with or without quotes.
    func name() -> (text: String, isQuoted: Bool)? {
        skipBlank()
        guard let quote = stream.peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "`") else {
            let word = word()
            return word.isEmpty ? nil : (word, false)
        }
        _ = stream.next()
        var bytes: [UInt8] = []
        while let byte = stream.next() {
            if byte == quote {
                guard stream.peek() == quote else { return (String(decoding: bytes, as: UTF8.self), true) }
                _ = stream.next()
            }
            guard bytes.count < Self.longestName else { return nil }
            bytes.append(byte)
        }
        return nil
    }

    /// `schema.table`.
    func qualifiedName() -> String? {
        guard var name = name()?.text else { return nil }
        while stream.peek() == UInt8(ascii: ".") {
            _ = stream.next()
            guard let next = self.name()?.text else { return nil }
            name += "." + next
        }
        return name
    }

    /// `(a, "b", …)`, if it comes next.
    func nameList() -> [String]? {
        guard take(UInt8(ascii: "(")) else { return nil }
        var names: [String] = []
        repeat {
            guard let name = name()?.text, names.count < 2_000 else { return nil }
            names.append(name)
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: ")")) ? names : nil
    }

    /// Skips everything up to the end of the statement, including strings.
    func skipStatement() {
        while let byte = stream.next() {
            if byte == UInt8(ascii: ";") { return }
            skipRest(of: byte)
        }
    }

    /// Skips a body whose own statements end with semicolons: up to `END;`.
    func skipBody() {
        var last = ""
        while let byte = stream.peek() {
            if Self.isNameByte(byte) {
                last = word().uppercased()
                continue
            }
            _ = stream.next()
            if byte == UInt8(ascii: ";"), last == "END" { return }
            if byte > 0x20 { last = "" }
            skipRest(of: byte)
        }
    }

    /// Skips the rest of a string, a quoted name or a comment that a consumed byte began.
    func skipRest(of byte: UInt8) {
        switch byte {
        case UInt8(ascii: "'"): skipQuoted(byte, escapes: isMySQL)
        case UInt8(ascii: "\""), UInt8(ascii: "`"): skipQuoted(byte, escapes: false)
        case UInt8(ascii: "-") where stream.peek() == UInt8(ascii: "-"): skipLine()
        case UInt8(ascii: "/") where stream.peek() == UInt8(ascii: "*"):
            _ = stream.next()
            skipComment()
        case UInt8(ascii: "$"): skipDollarQuoted()
        default: break
        }
    }

    private func skipQuoted(_ quote: UInt8, escapes: Bool) {
        while let byte = stream.next() {
            if escapes, byte == UInt8(ascii: "\\") { _ = stream.next() }
            if byte == quote {
                guard stream.peek() == quote else { return }
                _ = stream.next()
            }
        }
    }

    /// Skips PostgreSQL's `$tag$ … $tag$`, after its first dollar.
    private func skipDollarQuoted() {
        var tag: [UInt8] = []
        while let byte = stream.peek(), byte != UInt8(ascii: "$") {
            guard Self.isNameByte(byte), tag.count < Self.longestName else { return }
            tag.append(byte)
            _ = stream.next()
        }
        guard stream.next() != nil else { return }
        let end = [UInt8(ascii: "$")] + tag + [UInt8(ascii: "$")]
        var matched = 0
        while let byte = stream.next() {
            matched = byte == end[matched] ? matched + 1 : (byte == end[0] ? 1 : 0)
            if matched == end.count { return }
        }
    }
}
