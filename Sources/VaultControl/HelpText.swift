import ArgumentParser

/// The displayed help of a command: its own options, and one line about the options of all commands, which would push
/// the others off a terminal.
enum HelpText {
    static let pointer = "Options of all commands, such as --vault, --key-file and --json: vaultctl help options"

    private static let common = "\n" + GlobalOptions.title.uppercased() + ":\n"
    private static let own = "\nOPTIONS:\n"

    /// The parser puts sections with a title of their own first.
    static func ordered(_ text: String) -> String {
        guard let first = text.firstRange(of: common), let second = text.firstRange(of: own),
            first.upperBound <= second.lowerBound
        else { return text }
        let front = text[..<first.lowerBound]
        let options = text[second.lowerBound...].drop { $0 == "\n" }
        return "\(front)\n\(trimmed(options))\n\n\(pointer)"
    }

    /// `vaultctl help options`.
    static var commonOptions: String {
        let text = BareCommand.helpMessage()
        guard let start = text.firstRange(of: common) else { return text }
        let section = text[start.lowerBound...].drop { $0 == "\n" }
        let end = section.firstRange(of: own)?.lowerBound ?? section.endIndex
        return "\(trimmed(section[..<end]))"
    }

    /// A command with the common options and nothing else.
    private struct BareCommand: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "vaultctl")

        @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.last == "\n" { text.removeLast() }
        return text
    }
}
