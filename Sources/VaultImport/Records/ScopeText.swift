import OAuthClient

/// Scopes as databases have them.
enum ScopeText {
    /// The tokens of a text, and whether it was guessed what separates them.
    ///
    /// RFC 6749 separates by spaces, and allows commas in a token. Several providers answer with commas all the same, and
    /// programs store what they got. A list may also have been made a text of, in JSON or as an array of PostgreSQL.
    static func tokens(of text: String, _ separator: Character) -> (tokens: [String], isAssumed: Bool) {
        if let list = list(text) { return (list, false) }
        let hasCommas = text.utf8.contains(UInt8(ascii: ","))
        let isAssumed = separator == " " && hasCommas && spacesFollowCommas(text)
        let tokens = text.split { character in
            character.isWhitespace || character == separator || isAssumed && character == ","
        }
        return (tokens.map(String.init), isAssumed)
    }

    /// Whether a text is separated by commas alone, or by commas and spaces: `read, write`.
    private static func spacesFollowCommas(_ text: String) -> Bool {
        var last: Character?
        for character in text {
            if character.isWhitespace, let last, last != ",", !last.isWhitespace { return false }
            last = character
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
