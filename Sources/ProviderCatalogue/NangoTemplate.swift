/// A text of the catalogue with `${connectionConfig.name}` for values that each connection brings.
struct NangoTemplate: Hashable {
    enum Part: Hashable {
        case text(String)
        /// The name in the catalogue.
        case value(String)
        /// Nango's own, such as `${random}`.
        case unknown
    }

    var parts: [Part] = []

    init(_ parts: [Part]) { self.parts = parts }

    init(_ text: String) {
        var rest = text[...]
        while let open = rest.firstRange(of: "${") {
            append(rest[..<open.lowerBound])
            guard let close = rest[open.upperBound...].firstIndex(of: "}") else {
                parts.append(.unknown)
                return
            }
            append(expression: String(rest[open.upperBound..<close]))
            rest = rest[rest.index(after: close)...]
        }
        append(rest)
    }

    private mutating func append(_ text: Substring) {
        guard !text.isEmpty else { return }
        // A brace would begin a variable of the profile.
        parts.append(text.contains { $0 == "{" || $0 == "}" } ? .unknown : .text(String(text)))
    }

    private mutating func append(expression: String) {
        // `value || default`: what every log-in can do without is left at its default.
        if let choice = expression.firstRange(of: "||") {
            return append(String(expression[choice.upperBound...]).trimmed[...])
        }
        let name = expression.trimmed
        let prefix = "connectionConfig."
        guard name.hasPrefix(prefix), name.utf8.count > prefix.utf8.count else { return parts.append(.unknown) }
        parts.append(.value(String(name.dropFirst(prefix.count))))
    }

    /// The alternatives of a whole text: `first || second`.
    static func alternatives(_ text: String) -> [NangoTemplate] {
        var texts: [String] = [""]
        var depth = 0
        var rest = text[...]
        while let character = rest.first {
            if depth == 0, rest.hasPrefix("||") {
                texts.append("")
                rest = rest.dropFirst(2)
                continue
            }
            if character == "{" { depth += 1 } else if character == "}" { depth -= 1 }
            texts[texts.count - 1].append(character)
            rest = rest.dropFirst()
        }
        return texts.map { NangoTemplate($0.trimmed) }
    }

    var hasValue: Bool { parts.contains { if case .value = $0 { true } else { false } } }
    var isUnknown: Bool { parts.contains(.unknown) }

    /// Splits at a character of the fixed text.
    func split(at separator: Character) -> [NangoTemplate] {
        var pieces = [NangoTemplate([])]
        for part in parts {
            guard case .text(let text) = part else {
                pieces[pieces.count - 1].parts.append(part)
                continue
            }
            for (number, piece) in text.split(separator: separator, omittingEmptySubsequences: false).enumerated() {
                if number > 0 { pieces.append(NangoTemplate([])) }
                if !piece.isEmpty { pieces[pieces.count - 1].parts.append(.text(String(piece))) }
            }
        }
        return pieces
    }
}
