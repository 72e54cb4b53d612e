import ArgumentParser
import TokenVault

struct DamageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "damage",
        abstract: "Rows that cannot be opened: look at them, keep a copy, discard them.",
        discussion: """
            A damaged row stops nothing but itself, and stays as it is until you discard it. A row is named by its random \
            handle, or by its table and number, as in outbox#17, where the handle cannot be read.

            vaultctl damage list
            vaultctl damage show ROW
            vaultctl damage export ROW --output row.json
            vaultctl damage discard ROW
            """,
        subcommands: [
            DamageListCommand.self, DamageShowCommand.self, DamageExportCommand.self, DamageDiscardCommand.self,
        ])
}
