/// A syntax error in a document. It never quotes the document, which may contain tokens.
package enum JSONError: Error, Hashable, Sendable {
    case notUTF8, unexpectedByte, unexpectedEnd, tooDeep, tooMany, trailingBytes, loneSurrogate, notAnObject
}

/// Scans JSON text (RFC 8259) and validates it, without building anything.
///
/// Depth is bounded, and therefore the recursion. See `docs/adr/0003-read-json-with-our-own-reader.md`.
struct JSONScanner {
    static let maximumDepth = 32

    let bytes: [UInt8]
    private(set) var position: Int
    let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next byte after white space; nil at the end.
    mutating func next() -> UInt8? {
        while position < end {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return byte }
            position += 1
        }
        return nil
    }

    mutating func take(_ byte: UInt8) throws(JSONError) {
        guard let found = next() else { throw .unexpectedEnd }
        guard found == byte else { throw .unexpectedByte }
        position += 1
    }

    mutating func takeIfPresent(_ byte: UInt8) -> Bool {
        guard next() == byte else { return false }
        position += 1
        return true
    }

    /// The next byte, white space included.
    mutating func takeByte() -> UInt8? {
        guard position < end else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Skips one value and returns its range.
    mutating func skipValue(depth: Int = 0) throws(JSONError) -> Range<Int> {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        guard let first = next() else { throw .unexpectedEnd }
        let start = position
        switch first {
        case UInt8(ascii: "{"): try skipObject(depth: depth)
        case UInt8(ascii: "["): try skipArray(depth: depth)
        case UInt8(ascii: "\""): _ = try skipString()
        case UInt8(ascii: "t"): try skip("true")
        case UInt8(ascii: "f"): try skip("false")
        case UInt8(ascii: "n"): try skip("null")
        default: try skipNumber()
        }
        return start..<position
    }

    private mutating func skipObject(depth: Int) throws(JSONError) {
        try take(UInt8(ascii: "{"))
        if takeIfPresent(UInt8(ascii: "}")) { return }
        repeat {
            guard next() == UInt8(ascii: "\"") else { throw .unexpectedByte }
            _ = try skipString()
            try take(UInt8(ascii: ":"))
            _ = try skipValue(depth: depth + 1)
        } while takeIfPresent(UInt8(ascii: ","))
        try take(UInt8(ascii: "}"))
    }

    private mutating func skipArray(depth: Int) throws(JSONError) {
        try take(UInt8(ascii: "["))
        if takeIfPresent(UInt8(ascii: "]")) { return }
        repeat {
            _ = try skipValue(depth: depth + 1)
        } while takeIfPresent(UInt8(ascii: ","))
        try take(UInt8(ascii: "]"))
    }

    private mutating func skip(_ literal: StaticString) throws(JSONError) {
        for byte in "\(literal)".utf8 {
            guard position < end else { throw .unexpectedEnd }
            guard bytes[position] == byte else { throw .unexpectedByte }
            position += 1
        }
    }

    private mutating func skipNumber() throws(JSONError) {
        if position < end, bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < end, bytes[position] == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while position < end, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard position > start else { throw position < end ? .unexpectedByte : .unexpectedEnd }
    }
}
