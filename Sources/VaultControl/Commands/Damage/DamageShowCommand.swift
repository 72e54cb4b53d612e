import ArgumentParser
import TokenVault
import VaultAdministration

struct DamageShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what is wrong with a row, what the file holds of it, and what discarding it loses.")

    @OptionGroup var selection: DamagedRowSelection
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try selection.check()
        let (id, content) = try await VaultAccess(global, invocation).open { vault in
            let id = try await selection.id(in: vault)
            return (id, try await DamagedRowSelection.content(of: id, in: vault))
        }
        try invocation.emit(DamageView.record(content))
        invocation.hint("keep a copy: vaultctl damage export \(id) --output FILE")
        invocation.hint("discard it: vaultctl damage discard \(id)")
    }
}
