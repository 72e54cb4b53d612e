import ArgumentParser
import TokenVault

struct ProviderListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the providers.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let providers = try await VaultAccess(global, invocation).open { try await $0.providers() }
        try invocation.emit("providers", providers.map(ProviderFacts.sheet), ProviderFacts.headings)
        if providers.isEmpty {
            invocation.hint("there is no provider yet; add one: vaultctl provider add NAME --issuer URL --client-id ID")
        }
    }
}
