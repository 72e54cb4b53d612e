import ArgumentParser

/// Options of all commands that stand before the command: `vaultctl --json login list`. The parser knows them only behind
/// it.
enum LeadingOptions {
    /// The same command line with these options behind the command.
    static func moved(_ arguments: [String]) throws(Failure) -> [String] {
        // Read from the help, and only where there is something to move.
        lazy var takesValue = names
        var (options, path, rest) = ([String](), [String](), arguments[...])
        var command: any ParsableCommand.Type = RootCommand.self
        while let next = rest.first, !command.configuration.subcommands.isEmpty {
            if next.hasPrefix("-"), let size = size(of: next, takesValue) {
                options += rest.prefix(size)
                rest = rest.dropFirst(size)
            } else if let known = subcommand(next, of: command) {
                path.append(next)
                command = known
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        guard !options.isEmpty else { return arguments }
        guard !path.isEmpty else {
            guard !rest.isEmpty else {
                throw .usage("no command specified", hint: "vaultctl --help lists all commands")
            }
            return Array(rest)
        }
        // What is no command of `login` is better reported without the options in front of it.
        return command.configuration.subcommands.isEmpty ? path + options + rest : path + rest
    }

    /// How many arguments the option takes up; nil if it is none of these.
    private static func size(of argument: String, _ takesValue: [String: Bool]) -> Int? {
        let name = String(argument.prefix { $0 != "=" })
        guard let takesValue = takesValue[name] else { return nil }
        return takesValue && name == argument ? 2 : 1
    }

    private static func subcommand(_ name: String, of command: any ParsableCommand.Type) -> (any ParsableCommand.Type)?
    {
        command.configuration.subcommands.first { $0.configuration.commandName == name }
    }

    /// The names of the options of all commands, and whether a value follows: `  -q, --quiet   Print …`.
    static var names: [String: Bool] {
        var names: [String: Bool] = [:]
        for line in GlobalOptions.helpMessage(includeHidden: true, columns: 10_000).split(separator: "\n") {
            guard line.hasPrefix("  -") else { continue }
            let words = line.dropFirst(2).split(separator: " ", maxSplits: 6)
            let front = words.prefix { $0.hasPrefix("-") && $0 != "-" || $0.hasPrefix("<") }
            for word in front where word.hasPrefix("-") {
                names[word.last == "," ? String(word.dropLast()) : String(word)] = front.last?.hasPrefix("<") == true
            }
        }
        names["-h"] = nil
        names["--help"] = nil
        return names
    }
}
