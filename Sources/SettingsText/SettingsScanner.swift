/// Reads a line of a settings file: names, and values in a subset of TOML.
package struct SettingsScanner {
    /// Quotation marks that a page or an editor has made of straight ones.
    package static let bentMarks: Set<Character> = ["“", "”", "„", "‟", "‘", "’", "‚", "«", "»"]

    private let characters: [Character]
    private var index = 0

    package init(_ text: Substring) { characters = Array(text) }

    package var column: Int { index + 1 }
    package var peek: Character? { index < characters.count ? characters[index] : nil }
    package var isAtRemark: Bool { peek == nil || peek == "#" }

    package func problem(_ message: String, hint: String? = nil) -> SettingsProblem {
        SettingsProblem(message, hint: hint, column: column)
    }

    package mutating func skipSpaces() { _ = take { $0 == " " || $0 == "\t" } }

    package mutating func skip(_ character: Character) -> Bool {
        guard peek == character else { return false }
        index += 1
        return true
    }

    package mutating func take(_ belongs: (Character) -> Bool) -> String {
        var taken = ""
        while let next = peek, belongs(next) {
            taken.append(next)
            index += 1
        }
        return taken
    }

    /// - Parameters:
    ///   - example: A line that would be right, for hints.
    ///   - isFlag: Whether the setting is true or false.
    ///   - isNumber: Whether the setting may be a number.
    package mutating func value(
        example: String, isFlag: Bool = false, isNumber: Bool = false
    ) throws(SettingsProblem) -> SettingsValue {
        switch peek {
        case "\"": return .text(try quoted())
        case "[": return .texts(try list(example))
        case let next? where isNumber && next.isASCII && next.isNumber:
            let start = index
            // At most the digits of an unsigned 32-bit number.
            guard let number = UInt32(take { $0.isASCII && $0.isNumber }) else {
                index = start
                throw problem("the number is too large", hint: "for example: \(example)")
            }
            return .number(number)
        case let next? where next.isLetter:
            let start = index
            switch take({ $0.isLetter }) {
            case "true": return .flag(true)
            case "false": return .flag(false)
            default:
                index = start
                throw expected("a text goes into double quotation marks", example, isFlag, isNumber)
            }
        case "'": throw expected("a text goes into double quotation marks", example, isFlag, isNumber)
        default:
            throw expected(
                "expected a value: a text in quotation marks, a list of them in brackets, true or false", example,
                isFlag, isNumber)
        }
    }

    /// - Parameter message: what is expected, if any kind of value may be.
    private func expected(
        _ message: String, _ example: String, _ isFlag: Bool = false, _ isNumber: Bool = false
    ) -> SettingsProblem {
        var message = isFlag ? "expected true or false" : isNumber ? "expected a number from 0 on" : message
        if let next = peek, Self.bentMarks.contains(next) { message = "\(next) is not a straight quotation mark" }
        return problem(message, hint: "for example: \(example)")
    }

    private mutating func list(_ example: String) throws(SettingsProblem) -> [String] {
        _ = skip("[")
        var texts: [String] = []
        skipSpaces()
        while !skip("]") {
            guard peek == "\"" else { throw expected("expected a text in quotation marks, or ]", example) }
            texts.append(try quoted())
            skipSpaces()
            guard skip(",") || peek == "]" else { throw problem("expected , or ]") }
            skipSpaces()
        }
        return texts
    }

    private mutating func quoted() throws(SettingsProblem) -> String {
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

package enum SettingsValue: Equatable {
    case text(String)
    case texts([String])
    case number(UInt32)
    case flag(Bool)
}

/// The problem in a line, and its column, from 1.
package struct SettingsProblem: Error {
    package let message: String
    package var hint: String?
    package var column: Int?

    package init(_ message: String, hint: String? = nil, column: Int? = nil) {
        self.message = message
        self.hint = hint
        self.column = column
    }
}
