import ArgumentParser

struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Revocations that providers have not confirmed yet.",
        subcommands: [OutboxListCommand.self, OutboxRetryCommand.self])
}
