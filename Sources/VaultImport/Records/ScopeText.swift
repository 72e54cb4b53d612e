import OAuthClient

/// Scopes in the notations of databases.
enum ScopeText {
    /// The tokens of a text, and whether the separator was guessed.
    ///
    /// RFC 6749 uses spaces as separators, and allows commas in a token. Several providers nevertheless send commas,
    /// and programs store them unchanged. A list may also have been turned into text, as JSON or as a PostgreSQL array.
    static func tokens(of text: String, _ separator: Character) -> (tokens: [String], isAssumed: Bool) {
        if let list = list(text) { return (list, false) }
        let isAssumed = separator == " " && text.utf8.contains(comma) && spacesFollowCommas(text)
        let separator = separator.asciiValue
        let tokens = text.utf8.split { $0 == separator || isSpace($0) || isAssumed && $0 == comma }
        return (tokens.map { String(Substring($0)) }, isAssumed)
    }

    private static let comma = UInt8(ascii: ",")

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || 9...13 ~= byte }

    /// Whether a text is separated only by commas, or by commas and spaces: `read, write`.
    private static func spacesFollowCommas(_ text: String) -> Bool {
        var last: UInt8?
        for byte in text.utf8 {
            if isSpace(byte), let last, last != comma, !isSpace(last) { return false }
            last = byte
        }
        return true
    }

    private static func list(_ text: String) -> [String]? {
        if text.first == "[", text.last == "]" {
            guard let document = try? JSONObject(document: Array("{\"v\":\(text)}".utf8)),
                case .array(let values)? = document["v"]
            else { return nil }
            let tokens = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return tokens.count == values.count ? tokens : nil
        }
        guard text.first == "{", text.last == "}" else { return nil }
        return text.dropFirst().dropLast().split(separator: ",").map { element in
            let isQuoted = element.count > 1 && element.first == "\"" && element.last == "\""
            return String(isQuoted ? element.dropFirst().dropLast() : element)
        }
    }
}
