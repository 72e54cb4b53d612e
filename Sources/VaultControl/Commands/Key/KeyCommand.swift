import ArgumentParser
import TokenVault

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The keys that open the vault; any one of them is enough.",
        subcommands: [KeyListCommand.self, KeyAddCommand.self, KeyRemoveCommand.self, KeyRotateCommand.self])
}
