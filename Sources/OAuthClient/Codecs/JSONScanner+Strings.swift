extension JSONScanner {
    /// Skips one string, including its quotes, and returns whether it has escapes.
    mutating func skipString() throws(JSONError) -> Bool {
        try take(UInt8(ascii: "\""))
        var hasEscapes = false
        while let byte = takeByte() {
            switch byte {
            case UInt8(ascii: "\""): return hasEscapes
            case UInt8(ascii: "\\"):
                hasEscapes = true
                _ = try escape()
            case 0x00..<0x20: throw .unexpectedByte
            default: continue
            }
        }
        throw .unexpectedEnd
    }

    /// Reads one string.
    mutating func string() throws(JSONError) -> String {
        guard next() == UInt8(ascii: "\"") else { throw .unexpectedByte }
        let start = position + 1
        var probe = self
        if try !probe.skipString() {
            // The usual case: one copy, directly from the reply.
            self = probe
            guard let text = String(validating: bytes[start..<(position - 1)], as: UTF8.self) else { throw .notUTF8 }
            return text
        }
        return try unescapedString()
    }

    private mutating func unescapedString() throws(JSONError) -> String {
        try take(UInt8(ascii: "\""))
        var text: [UInt8] = []
        while let byte = takeByte() {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: text, as: UTF8.self) else { throw .notUTF8 }
                return text
            case UInt8(ascii: "\\"): text.append(contentsOf: String(Character(try escape())).utf8)
            default: text.append(byte)
            }
        }
        throw .unexpectedEnd
    }

    /// Reads the part after a backslash. A `\u` escape of a lone surrogate is not a character.
    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard let byte = takeByte() else { throw .unexpectedEnd }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw .unexpectedByte
        }
    }

    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let first = try hexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), takeByte() == UInt8(ascii: "\\"), takeByte() == UInt8(ascii: "u")
        else { throw .loneSurrogate }
        let second = try hexDigits()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw .loneSurrogate }
        return scalar
    }

    private mutating func hexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = takeByte() else { throw .unexpectedEnd }
            guard let digit = Hex.value(byte) else { throw .unexpectedByte }
            value = (value << 4) | UInt32(digit)
        }
        return value
    }
}
