import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

struct DamageDiscardCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Delete a row that cannot be opened, and what depends on it.",
        discussion: """
            Only what cannot be opened can be discarded. Its content is lost: tokens in it can be neither used nor \
            revoked. The audit log keeps the row's name, what was wrong with it and its hash. Keep a copy first: \
            vaultctl damage export.

            A provider with logins is not discarded. Register it again in its place, and its logins are kept: vaultctl \
            provider add NAME --replace-damaged ROW …
            """)

    @OptionGroup var selection: DamagedRowSelection
    @OptionGroup var confirmation: TypedConfirmation
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try selection.check()
        let discarded = try await VaultAccess(global, invocation).open { vault in
            let id = try await selection.id(in: vault)
            let content = try await vault.damagedRow(id)
            invocation.note("discarding loses \(DamageView.loss(content))")
            try confirmation.require(id.description, to: "discard it", invocation)
            return try await vault.discardDamagedRow(id)
        }
        try invocation.emit(
            OutputRecord([
                .data("discarded", discarded.row.name), .data("table", discarded.row.table.rawValue),
                .data("rows", discarded.rowCount), .data("hash", Hex.encode(discarded.hash)),
                .data("logins", discarded.logins.map { LoginID($0) }),
            ]), text: "")
        invocation.note("discarded \(discarded.row.table.rawValue) \(discarded.row.name)")
    }
}
