import ArgumentParser

extension CommandSuggestions {
    /// A command that another noun has, or that is an option: `login events`, `user audit`, `provider promote`.
    static func elsewhere(_ typed: [String]) -> [String] {
        let words = typed.prefix(2).map { $0.lowercased() }
        guard words.count == 2, let group = CommandTree.command([words[0]]), group.isGroup else { return [] }
        let (noun, word) = (words[0], words[1])
        if let own = ownCommand(word, of: noun) { return [own] }
        let flags = flags(word, of: noun, group)
        if (1...2).contains(flags.count) { return flags }
        // `witness delete` means to delete no client's registration.
        guard !destructive.contains(word) else { return [] }
        let others = CommandTree.leaves.filter { $0.count > 1 && $0[0] != noun && $0.last == word }
        return (1...2).contains(others.count) ? others.map { $0.joined(separator: " ") } : []
    }

    /// `events --login ID` for `login events`, and `audit list --user ID` for `user audit`.
    private static func ownCommand(_ word: String, of noun: String) -> String? {
        let names = RootCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let name = names.first(where: { $0 == word || $0 + "s" == word }), name != noun else { return nil }
        let paths = [[name], [name, "list"], [name, "status"], [name, "get"]]
        guard let path = paths.first(where: { CommandTree.command($0)?.runsByItself == true }),
            let command = CommandTree.command(path)
        else { return nil }
        let line = path.joined(separator: " ")
        let option = "--\(noun)"
        guard OptionNames.names(of: command.running).contains(option), !LeadingOptions.withValue.contains(option) else {
            return path.count == 1 ? line : nil
        }
        return "\(line) \(option) \(["user", "login"].contains(noun) ? "ID" : "NAME")"
    }

    /// `provider update NAME --promote-client-secret` for `provider promote`.
    private static func flags(_ word: String, of noun: String, _ group: any ParsableCommand.Type) -> [String] {
        group.configuration.subcommands.filter { $0.runsByItself }.flatMap { command in
            let shape = CommandShape(of: command.running)
            let places = shape.positionals.compactMap { $0.valueName?.uppercased() }
            return OptionNames.names(of: command.running).filter { option in
                (option == "--\(word)" || option.hasPrefix("--\(word)-")) && shape[option]?.takesValue == false
                    && !LeadingOptions.flags.contains(option)
            }.map { ([noun, command.configuration.commandName ?? ""] + places + [$0]).joined(separator: " ") }
        }
    }
}
