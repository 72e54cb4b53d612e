import ArgumentParser

/// Options of all commands in front of the command: `vaultctl --json login list`. The parser accepts them only after
/// it.
enum LeadingOptions {
    /// The same command line with these options after the command.
    static func moved(_ arguments: [String]) throws(Failure) -> [String] {
        var (options, path, rest) = ([String](), [String](), arguments[...])
        var command: any ParsableCommand.Type = RootCommand.self
        while let next = rest.first, command.isGroup {
            if next.hasPrefix("-"), let size = size(of: next) {
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
        // `provider profiles google` shows a profile: the command that is meant without a name is named. A verb that the
        // group does not have is no name.
        if let name = command.running.configuration.commandName, command.isGroup, command.runsByItself,
            rest.first.map({ !["--help", "-h"].contains($0) && !CommandSuggestions.isVerb($0, of: command) }) ?? true
        {
            path.append(name)
            command = command.running
        } else if options.isEmpty {
            return arguments
        }
        guard !path.isEmpty else {
            guard rest.isEmpty else { return Array(rest) }
            throw noCommand(after: options)
        }
        // An unknown command of `login` is better reported without the options in front of it.
        return command.isGroup ? path + rest : path + options + rest
    }

    private static func noCommand(after options: [String]) -> Failure {
        let help = "vaultctl --help lists all commands"
        guard let last = options.last else { return .usage("no command specified", hint: help) }
        if withValue.contains(last) { return .usage("\(last) has no value", hint: help) }
        // `--vault status`
        let taken = options.dropLast().last.flatMap { withValue.contains($0) ? $0 : nil }
        guard let taken, CommandTree.command([last]) != nil else { return .usage("no command specified", hint: help) }
        return .usage(
            "no command specified", hint: "\(taken) took \(last) as its value: vaultctl \(taken) VALUE \(last)")
    }

    /// The number of arguments that the option takes up; nil if it is not one of these.
    private static func size(of argument: String) -> Int? {
        let name = String(argument.prefix { $0 != "=" })
        if flags.contains(name) { return 1 }
        guard withValue.contains(name) else { return nil }
        return name == argument ? 2 : 1
    }

    private static func subcommand(_ name: String, of command: any ParsableCommand.Type) -> (any ParsableCommand.Type)?
    {
        command.configuration.subcommands.first { $0.configuration.commandName == name }
    }

    // Listed here, because reading them from the help takes the parser longer than many a command. A test compares the
    // two.

    /// The options of ``GlobalOptions`` that take a value.
    static let withValue: Set<String> = [
        "--vault", "--key", "--key-file", "--key-fd", "--credential", "--key-command", "--wrap-command", "--identity",
        "--passphrase", "--passphrase-file", "--passphrase-fd", "--passphrase-memory-limit", "--ca-file", "--proxy",
        "--proxy-credentials-file", "--witness", "--witness-command", "--witness-log", "--config", "--log-format",
    ]

    /// The options that take none.
    static let flags: Set<String> = [
        "--allow-environment-key", "--trust-file-system", "--json", "-q", "--quiet", "-v", "--verbose",
    ]
}
