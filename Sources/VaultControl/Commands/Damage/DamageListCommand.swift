import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

struct DamageListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the rows that cannot be opened. Reads every row of the vault.")

    @Option(help: .init("The most rows to list.", valueName: "number"))
    var limit = 1_000

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
    }

    func run(_ invocation: Invocation) async throws {
        let rows = try await VaultAccess(global, invocation).open { try await $0.damage(limit: limit) }
        try invocation.emit("damage", rows.map(DamageView.record), DamageView.headings)
        guard let first = rows.first else {
            invocation.hint("every row opens; vaultctl verify also checks the audit log and the file")
            return
        }
        if rows.count == limit { invocation.warn("there may be more: raise --limit to list them") }
        invocation.hint("see what is left of one: vaultctl damage show \(first.name)")
    }
}
