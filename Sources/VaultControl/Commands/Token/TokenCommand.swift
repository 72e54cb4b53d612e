import ArgumentParser

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Access tokens: get a valid one, or set a new one.",
        subcommands: [TokenGetCommand.self, TokenUpdateCommand.self, TokenClientCommand.self])
}
