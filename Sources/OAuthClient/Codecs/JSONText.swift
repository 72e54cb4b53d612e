/// Writes JSON (RFC 8259) for requests.
package enum JSONText {
    package static func quote(_ text: String) -> String {
        var json = ""
        append(text, to: &json)
        return json
    }

    /// Appends a text, quoted.
    package static func append(_ text: String, to json: inout String) {
        json += "\""
        defer { json += "\"" }
        if isPlain(text.utf8Span.span) { return json += text }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\u{0}"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
    }

    /// Whether a text is quoted as it is, like nearly all. Tokens are long: eight bytes are looked at together.
    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        let words = text.count / 8
        let bytes = unsafe text.bytes
        for word in 0..<words {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
            let found =
                below(0x20, word) | below(1, word ^ each(0x22)) | below(1, word ^ each(0x5C))
                | below(1, word ^ each(0x7F))
            if found != 0 { return false }
        }
        for index in words * 8..<text.count {
            let byte = text[index]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F { return false }
        }
        return true
    }

    /// A word of eight times this byte.
    private static func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }

    /// Zero if no byte of the word is less than `limit`, which is at most 128.
    private static func below(_ limit: UInt64, _ word: UInt64) -> UInt64 {
        (word &- each(limit)) & ~word & each(0x80)
    }

    /// An object with text values, in order. A repeated name becomes a list.
    static func object(_ parameters: [FormParameter]) -> String {
        var names: [String] = []
        for parameter in parameters where !names.contains(parameter.name) { names.append(parameter.name) }
        let members = names.map { name in
            let values = parameters.filter { $0.name == name }.map { quote($0.value) }
            return quote(name) + ":" + (values.count == 1 ? values[0] : "[" + values.joined(separator: ",") + "]")
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}
