/// Text with `{name}` for values that each log-in brings.
enum VariableText {
    /// Plain text and names, in order; nil if braces do not pair, or do not hold a name.
    static func parts(of text: String) -> [Part]? {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else { return nil }
            let name = rest[rest.index(after: open)..<close]
            guard ProfileVariable.isName(name) else { return nil }
            parts.append(.variable(String(name)))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return parts
    }

    /// The names in it, in order.
    static func names(of text: String) -> [String] {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return [] }
        return (parts(of: text) ?? []).compactMap { if case .variable(let name) = $0 { name } else { nil } }
    }

    enum Part: Equatable {
        case text(String)
        case variable(String)
    }

    /// - Throws: ``OAuthValueError``, `malformed` for a value that is missing.
    static func filled(
        _ text: String, with values: [String: String], _ encode: (String) throws(OAuthValueError) -> String
    ) throws(OAuthValueError) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        guard let parts = parts(of: text) else { throw OAuthValueError(.malformed, "text with variables") }
        var filled = ""
        for part in parts {
            switch part {
            case .text(let text): filled += text
            case .variable(let name):
                guard let value = values[name] else { throw OAuthValueError(.malformed, "value of {\(name)}") }
                filled += try encode(value)
            }
        }
        return filled
    }
}
