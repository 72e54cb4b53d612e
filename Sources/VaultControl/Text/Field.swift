import FoundationEssentials

/// One fact: a member of its JSON object, a line for a person, and perhaps a cell of a table.
///
/// By default, the line's label comes from the key and its text from the value.
struct Field {
    /// The member's name; nil for a line that programs do not get.
    let key: String?
    let value: JSONValue
    /// Nil: the label that follows from the key, which a list of logins never needs.
    private var givenLabel: String?
    private var line: JSONValue
    /// The text of the line in a pipe.
    private var word: JSONValue
    private var column: (heading: String, cell: JSONValue, word: JSONValue)?

    init(_ key: String, _ value: some JSONConvertible) {
        self.key = key
        self.value = value.json
        line = self.value
        word = self.value
    }

    private init(label: String, line: JSONValue) {
        key = nil
        value = .null
        givenLabel = label
        self.line = line
        word = line
    }

    /// For programs alone.
    static func data(_ key: String, _ value: some JSONConvertible) -> Field {
        Field(key, value).words(JSONValue.null)
    }

    /// For people alone.
    static func line(_ label: String, _ words: some JSONConvertible) -> Field {
        Field(label: label, line: words.json)
    }

    func label(_ label: String) -> Field { changed { $0.givenLabel = label } }

    /// Sets the text that a person reads instead of the value; no line if it is null.
    func words(_ words: some JSONConvertible) -> Field { self.words(words, inPipe: words) }

    /// - Parameter word: what a program reads instead of `words`.
    func words(_ words: some JSONConvertible, inPipe word: some JSONConvertible) -> Field {
        changed { ($0.line, $0.word) = (words.json, word.json) }
    }

    /// Sets the text that a person reads if there is no value.
    func orWords(_ words: String) -> Field {
        if case .null = value { self.words(words) } else { self }
    }

    func column(_ heading: String) -> Field { column(heading, value) }

    func column(_ heading: String, _ cell: some JSONConvertible) -> Field {
        changed { $0.column = (heading, cell.json, cell.json) }
    }

    /// - Parameter word: what a program reads instead of `cell`.
    func column(_ heading: String, _ cell: some JSONConvertible, inPipe word: some JSONConvertible) -> Field {
        changed { $0.column = (heading, cell.json, word.json) }
    }

    /// The line's label and text. A person reads how far away a time is; a program gets the time alone.
    func line(isTerminal: Bool, now: Date) -> (label: String, words: String)? {
        Self.words(isTerminal ? line : word) { isTerminal ? Instant.words($0, now: now) : $0.formatted(.iso8601) }.map {
            (label, $0)
        }
    }

    func cell(under heading: String, isTerminal: Bool, now: Date) -> String? {
        guard let column, column.heading == heading else { return nil }
        return Self.words(isTerminal ? column.cell : column.word) {
            isTerminal ? Instant.relative($0, now: now) : $0.formatted(.iso8601)
        }
    }

    private var label: String { givenLabel ?? key.map(Self.label) ?? "" }

    /// `pendingRevocations` is read as `pending revocations`, `createdAt` as `created`.
    static func label(of key: String) -> String {
        if let label = particularLabels[key] { return label }
        let stem = key.hasSuffix("At") ? key.dropLast(2) : key[...]
        return stem.reduce(into: "") { words, character in
            words += character.isUppercase ? " " + character.lowercased() : String(character)
        }
    }

    private static let particularLabels = [
        "apiOrigins": "API origins", "clientId": "client id", "clientKeyId": "client key id", "dpop": "DPoP",
        "jwksURI": "JWKS URI",
        "jwksUri": "JWKS URI", "redirectUri": "redirect URI", "requiresIssuerInCallback": "callbacks name the issuer",
    ]

    private static func words(_ value: JSONValue, _ date: (Date) -> String) -> String? {
        switch value {
        case .null, .array, .object: nil
        case .bool(let value): value ? "yes" : "no"
        case .integer(let value): String(value)
        case .string(let value): value
        case .date(let value): date(value)
        }
    }

    private func changed(_ change: (inout Field) -> Void) -> Field {
        var field = self
        change(&field)
        return field
    }
}
