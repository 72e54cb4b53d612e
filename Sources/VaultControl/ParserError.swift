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
        Failure(
            .usage, Printable.shortened(SecretArguments.redact(sentence, arguments: arguments), to: 400), hints: hints)
    }

    /// `Unknown option '--x'.` without capital and full stop, on one line.
    private var sentence: String {
        if let negative { return "the value '\(negative.value)' is invalid for '\(negative.option)'" }
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

    /// A negative number looks like an option to the parser.
    private var negative: (option: String, value: String)? {
        let front = "Missing value for '"
        guard message.hasPrefix(front) else { return nil }
        let option = message.dropFirst(front.count).prefix { $0 != "'" }
        let name = option.prefix { $0 != " " }
        guard let index = arguments.firstIndex(where: { $0 == name }), index + 1 < arguments.count else { return nil }
        let value = arguments[index + 1]
        guard value.hasPrefix("-"), value.count < 16, value.dropFirst().first?.isNumber == true else { return nil }
        return (String(option), value)
    }

    private var hints: [String] {
        var hints: [String] = []
        if sentence.contains("--expires-before <time>'") || sentence.contains("<when>'") {
            hints.append("use a duration such as 2h or 30d, or a date such as 2026-11-21T03:15:00Z")
        } else if sentence.contains("<time>'") {
            hints.append("use a duration such as 90s, 15m, 2h or 30d")
        }
        if sentence.contains("<spans>'") { hints.append("use spans such as 24h,7d,5w,12m") }
        if sentence.contains("<size>'") { hints.append("use a size such as 512M or 2G") }
        guard let usage else { return hints + ["vaultctl --help lists all commands"] }
        hints.append("usage: \(Self.withoutCommonOptions(usage))")
        let command = usage.split(separator: " ").prefix { !"<[-".contains($0.prefix(1)) }.joined(separator: " ")
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
