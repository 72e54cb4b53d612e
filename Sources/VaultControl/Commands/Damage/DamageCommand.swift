import ArgumentParser
import TokenVault

struct DamageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "damage",
        abstract: "Rows that cannot be opened: inspect, export or discard them.",
        discussion: """
            A damaged row affects nothing else, and stays as it is until you discard it. A row is named by its random \
            handle or, where that cannot be read, by its table and number, such as outbox#17.

            vaultctl damage list
            vaultctl damage show ROW
            vaultctl damage export ROW --output row.json
            vaultctl damage discard ROW
            """,
        subcommands: [
            DamageListCommand.self, DamageShowCommand.self, DamageExportCommand.self, DamageDiscardCommand.self,
        ])
}
