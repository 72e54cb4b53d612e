import ArgumentParser

/// `vaultctl help …`, which the parser answers with the help of the last command that it knows.
enum HelpRequest {
    /// Refuses a command that does not exist.
    static func check(_ arguments: [String]) throws(Failure) {
        guard arguments.first == "help" else { return }
        var (command, path): (any ParsableCommand.Type, String) = (RootCommand.self, "vaultctl")
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            let known = command.configuration.subcommands
            guard let next = known.first(where: { $0.configuration.commandName == name }) else {
                throw .usage(
                    "\(path) has no command '\(Printable.shortened(name))'",
                    hint: "\(path) --help lists all \(known.isEmpty ? "options" : "commands")")
            }
            (command, path) = (next, "\(path) \(name)")
        }
    }
}
