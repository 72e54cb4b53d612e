import ArgumentParser
import TokenVault

/// Which damaged row is meant.
struct DamagedRowSelection: ParsableArguments {
    @Argument(help: .init("The row, as vaultctl damage list names it.", valueName: "row"))
    var row: String

    var id: DamagedRow.ID {
        get throws(Failure) { try Self.id(row) }
    }

    static func id(_ text: String) throws(Failure) -> DamagedRow.ID {
        guard let id = DamagedRow.ID(text) else {
            throw .usage(
                "\(Printable.named(text)) is not a row: expected 26 letters and digits, or a table and a number",
                hint: "list all damaged rows: vaultctl damage list")
        }
        return id
    }
}
