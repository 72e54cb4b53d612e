import ArgumentParser
import Platform
import TokenVault

/// The user who runs this program, for the audit trail.
enum OperatorIdentity {
    /// - Parameters:
    ///   - arguments: the program's, with its command in front.
    ///   - environment: may name the user who invoked `sudo`.
    static func actor(_ arguments: [String], _ environment: [String: String]) -> VaultOptions.Actor {
        let user = UserID.current
        // Only root is trusted: any other user could name anyone.
        let caller = user.isRoot ? environment["SUDO_USER"].flatMap { $0.isEmpty ? nil : $0 } : nil
        return VaultOptions.Actor(
            uid: Int(user.number), name: caller ?? user.name, host: Machine.hostName ?? "unknown", tool: tool(arguments)
        )
    }

    /// The command alone: arguments may contain anything.
    private static func tool(_ arguments: [String]) -> String {
        var (command, words): (any ParsableCommand.Type, [String]) = (RootCommand.self, ["vaultctl"])
        for word in arguments {
            let known = command.configuration.subcommands
            guard let next = known.first(where: { $0.configuration.commandName == word }) else { break }
            command = next
            words.append(word)
        }
        return words.joined(separator: " ")
    }
}
