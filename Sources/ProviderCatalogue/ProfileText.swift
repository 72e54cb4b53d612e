/// JSON in the order in which profiles are written.
indirect enum ProfileText {
    case number(Int)
    case flag(Bool)
    case text(String)
    case list([ProfileText])
    case section([(String, ProfileText)])

    static func texts(_ texts: [String]) -> ProfileText { .list(texts.map { .text($0) }) }
    static func table(_ pairs: [(name: String, value: String)]) -> ProfileText {
        .section(pairs.map { ($0.name, .text($0.value)) })
    }

    private var isEmpty: Bool {
        switch self {
        case .list(let list): list.isEmpty
        case .section(let members): members.allSatisfy(\.1.isEmpty)
        default: false
        }
    }

    /// Sections and lists that are empty are left out.
    func json(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .number(let number): return String(number)
        case .flag(let flag): return String(flag)
        case .text(let text): return Self.quoted(text)
        case .list(let list):
            let lines = list.map { inner + $0.json(indent: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .section(let members):
            let lines = members.filter { !$0.1.isEmpty }.map { name, value in
                "\(inner)\(Self.quoted(name)): \(value.json(indent: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case "\u{0}"..."\u{1F}", "\u{7F}":
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
