import ArgumentParser
import TokenVault

struct ProviderListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the providers.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let providers = try await VaultAccess(global, invocation).open { try $0.providers() }
        var table = Table("NAME", "ISSUER", "CLIENT", "DPOP")
        for entry in providers { table.append(ProviderFacts.row(entry)) }
        try invocation.emit(
            json: .object([("providers", .array(providers.map(ProviderFacts.json)))]), table: table)
        if providers.isEmpty {
            invocation.hint("there is no provider yet: vaultctl provider add NAME --issuer URL --client-id ID")
        }
    }
}
