import ArgumentParser

/// What ArgumentParser says of a command line, in the program's own style.
struct ParserError {
    private let message: String
    private let usage: String?
    private let arguments: [String]

    /// - Parameter usage: such as `vaultctl login add [<options>] --user <id>`.
    init(_ message: String, usage: String?, _ arguments: [String]) {
        self.message = message
        self.usage = usage
        self.arguments = arguments
    }

    var failure: Failure {
        // The value of an option that takes no secret is shown whole: what is wrong with it may be at its end.
        let text = invalid == nil ? SecretArguments.redact(sentence, arguments: arguments) : sentence
        return Failure(.usage, Printable.shortened(text, to: 400), hints: hints)
    }

    /// `Unknown option '--x'.` without capital and full stop, on one line.
    private var sentence: String {
        if let invalid { return invalid.sentence }
        if let unknown {
            return "unknown option '\(unknown.name)'" + (unknown.suggestion.map { ". Did you mean '\($0)'?" } ?? "")
        }
        var text = message.prefix(1).lowercased() + message.dropFirst()
        // A list with one item on a line.
        let parts = text.split(separator: "\n").map { Self.trimmed($0) }
        var isFirst = true
        text = parts.reduce(into: "") { text, part in
            guard part.hasPrefix("- ") else { return text += (text.isEmpty ? "" : " ") + part }
            text += (isFirst ? " " : ", ") + part.dropFirst(2)
            isFirst = false
        }
        while text.last == "." { text.removeLast() }
        return text
    }

    private static func trimmed(_ line: Substring) -> Substring {
        let start = line.drop { $0 == " " }
        return start.prefix(upTo: start.lastIndex { $0 != " " }.map { start.index(after: $0) } ?? start.endIndex)
    }

    /// A value that an option cannot have. A negative number looks like an option to the parser.
    private var invalid: InvalidValue? {
        if let invalid = InvalidValue(message) { return invalid }
        let front = "Missing value for '"
        guard message.hasPrefix(front) else { return nil }
        let option = message.dropFirst(front.count).prefix { $0 != "'" }
        let name = option.prefix { $0 != " " }
        guard let index = arguments.firstIndex(where: { $0 == name }), index + 1 < arguments.count else { return nil }
        let value = arguments[index + 1]
        guard value.hasPrefix("-"), value.count < 16, value.dropFirst().first?.isNumber == true else { return nil }
        return InvalidValue(value: value, option: String(option))
    }

    private var unknown: (name: String, suggestion: String?)? {
        let front = "Unknown option '"
        guard message.hasPrefix(front) else { return nil }
        let reported = String(message.dropFirst(front.count).prefix { $0 != "'" })
        let name = OptionNames.typed(reported, in: arguments)
        guard let command = CommandTree.command(words) else { return (name, nil) }
        return (name, OptionNames.suggestion(for: name, of: command))
    }

    /// The command that was understood, without `vaultctl`.
    private var words: [String] {
        (usage ?? "").split(separator: " ").prefix { !"<[-".contains($0.prefix(1)) }.dropFirst().map(String.init)
    }

    private var hints: [String] {
        var hints = invalid?.hints ?? []
        guard let usage else { return hints + ["vaultctl --help lists all commands"] }
        let command = (["vaultctl"] + words).joined(separator: " ")
        if message.hasPrefix("Unexpected argument 'help'") || message.hasPrefix("Unexpected argument '?'") {
            return ["did you mean: \(command) --help"]
        }
        hints.append("usage: \(Self.withoutCommonOptions(usage))")
        hints.append("\(command) --help lists all \(usage.contains("<subcommand>") ? "commands" : "options")")
        return hints
    }

    /// Where a command has few options of its own, the usage lists those that all have.
    private static func withoutCommonOptions(_ usage: String) -> String {
        let (first, last) = ("[--vault <path>]", "[--verbose]")
        guard let start = usage.firstRange(of: first), let end = usage.firstRange(of: last),
            start.lowerBound < end.lowerBound
        else { return usage }
        return String(usage[..<start.lowerBound] + "[<options>]" + usage[end.upperBound...])
    }
}
