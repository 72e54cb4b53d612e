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

/// Which damaged row is meant.
struct DamagedRowSelection: ParsableArguments {
    @Argument(help: .init("The row, as vaultctl damage list names it.", valueName: "row"))
    var row: String

    var id: DamagedRowID {
        get throws(Failure) { try Self.id(row) }
    }

    static func id(_ text: String) throws(Failure) -> DamagedRowID {
        guard let id = DamagedRowID(text) else {
            throw .usage(
                "\(Printable.shortened(text)) names no row: that is 26 letters and digits, or a table and a number",
                hint: "vaultctl damage list shows all damaged rows")
        }
        return id
    }
}
