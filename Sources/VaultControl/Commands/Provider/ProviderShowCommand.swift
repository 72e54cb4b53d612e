import ArgumentParser
import TokenVault

struct ProviderShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what the vault knows about a provider, without secrets.")

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let provider = try await VaultAccess(global, invocation).open {
            try await $0.provider(named: tenant.provider(name))
        }
        try invocation.emit(ProviderView.record(provider))
    }
}
