/// One line of a configuration file: `name = value`, in a subset of TOML.
struct ConfigurationLine {
    let setting: ConfigurationSetting
    /// The columns of the name and the value, from 1.
    let nameColumn: Int
    let valueColumn: Int
    let value: ConfigurationValue

    /// Nil for an empty line and a comment.
    init?(_ text: Substring) throws(ConfigurationProblem) {
        var scanner = LineScanner(text)
        scanner.skipSpaces()
        guard !scanner.isAtRemark else { return nil }
        guard scanner.peek != "[" else { throw scanner.problem("sections are not used here", hint: "remove this line") }
        nameColumn = scanner.column
        let name = scanner.take { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        guard !name.isEmpty else { throw scanner.problem("expected the name of a setting", hint: Self.form) }
        scanner.skipSpaces()
        guard scanner.skip("=") else {
            throw scanner.problem("expected = after \(Printable.shortened(name))", hint: Self.form)
        }
        setting = try ConfigurationSetting.find(name, column: nameColumn)
        scanner.skipSpaces()
        valueColumn = scanner.column
        value = try scanner.value(for: setting)
        scanner.skipSpaces()
        guard scanner.isAtRemark else { throw scanner.problem("expected the end of the line", hint: Self.form) }
    }

    private static let form = "a line is NAME = VALUE, for example: vault = \"/var/lib/app/app.vault\""
}

private struct LineScanner {
    private let characters: [Character]
    private var index = 0

    init(_ text: Substring) { characters = Array(text) }

    var column: Int { index + 1 }
    var peek: Character? { index < characters.count ? characters[index] : nil }
    var isAtRemark: Bool { peek == nil || peek == "#" }

    func problem(_ message: String, hint: String? = nil) -> ConfigurationProblem {
        ConfigurationProblem(message, hint: hint, column: column)
    }

    mutating func skipSpaces() { _ = take { $0 == " " || $0 == "\t" } }

    mutating func skip(_ character: Character) -> Bool {
        guard peek == character else { return false }
        index += 1
        return true
    }

    mutating func take(_ belongs: (Character) -> Bool) -> String {
        var taken = ""
        while let next = peek, belongs(next) {
            taken.append(next)
            index += 1
        }
        return taken
    }

    mutating func value(for setting: ConfigurationSetting) throws(ConfigurationProblem) -> ConfigurationValue {
        switch peek {
        case "\"": return .text(try quoted())
        case "[": return .texts(try list())
        case let next? where next.isLetter:
            let start = index
            switch take({ $0.isLetter }) {
            case "true": return .flag(true)
            case "false": return .flag(false)
            default:
                index = start
                throw unquoted(setting)
            }
        case "'": throw unquoted(setting)
        default:
            throw problem(
                "expected a value: a text in quotation marks, a list of them in brackets, true or false",
                hint: "for example: \(setting.example)")
        }
    }

    private func unquoted(_ setting: ConfigurationSetting) -> ConfigurationProblem {
        let isFlag = if case .flag = setting.kind { true } else { false }
        return problem(
            isFlag ? "expected true or false" : "a text goes into double quotation marks",
            hint: "for example: \(setting.example)")
    }

    private mutating func list() throws(ConfigurationProblem) -> [String] {
        _ = skip("[")
        var texts: [String] = []
        skipSpaces()
        while !skip("]") {
            guard peek == "\"" else { throw problem("expected a text in quotation marks, or ]") }
            texts.append(try quoted())
            skipSpaces()
            guard skip(",") || peek == "]" else { throw problem("expected , or ]") }
            skipSpaces()
        }
        return texts
    }

    private mutating func quoted() throws(ConfigurationProblem) -> String {
        _ = skip("\"")
        var text = ""
        while let next = peek {
            if next == "\"" {
                index += 1
                return text
            }
            guard !next.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
                throw problem("a control character in a text")
            }
            if next == "\\" {
                index += 1
                guard let escaped = peek, "\\\"".contains(escaped) else {
                    throw problem("only \\\\ and \\\" are written with a backslash")
                }
                text.append(escaped)
            } else {
                text.append(next)
            }
            index += 1
        }
        throw problem("the text has no closing quotation mark")
    }
}
