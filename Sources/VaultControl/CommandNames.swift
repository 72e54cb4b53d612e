import ArgumentParser

/// The commands that a command line names, and that `vaultctl help …` asks for. The parser takes one that does not exist
/// for a superfluous argument, blames an option behind it, or answers with the help of the last command that it knows.
enum CommandNames {
    /// Refuses a command that does not exist.
    static func check(_ arguments: [String]) throws(Failure) {
        var (command, path): (any ParsableCommand.Type, String) = (RootCommand.self, "vaultctl")
        let isHelp = arguments.first == "help"
        for name in arguments.dropFirst(isHelp ? 1 : 0) {
            if name.hasPrefix("-") {
                guard isHelp else { return }
                continue
            }
            let known = command.configuration.subcommands
            if known.isEmpty, !isHelp { return }
            guard let next = known.first(where: { $0.configuration.commandName == name }) else {
                throw unknown(name, of: path, known, arguments)
            }
            (command, path) = (next, "\(path) \(name)")
        }
    }

    private static func unknown(
        _ name: String, of path: String, _ known: [any ParsableCommand.Type], _ arguments: [String]
    ) -> Failure {
        let names = known.compactMap { $0.configuration.commandName }
        let near = names.map { (name: $0, distance: distance(Array($0), Array(name))) }
            .filter { $0.distance <= 2 && $0.distance < $0.name.count - 1 }.min { $0.distance < $1.distance }
        let sentence = "\(path) has no command '\(Printable.shortened(name))'"
        return Failure(
            .usage, SecretArguments.redact(sentence, arguments: arguments),
            hints: (near.map { ["did you mean: \(path) \($0.name)"] } ?? [])
                + ["\(path) --help lists all \(known.isEmpty ? "options" : "commands")"])
    }

    /// How many characters must be inserted, removed or replaced (Levenshtein).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        guard one.count <= 32, other.count <= 32 else { return .max }
        var row = Array(0...other.count)
        for (index, character) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let replaced = diagonal + (other[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
