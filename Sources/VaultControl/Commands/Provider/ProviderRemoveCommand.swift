import ArgumentParser
import TokenVault

struct ProviderRemoveCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a provider that has no logins.")

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            let provider = try await vault.provider(named: tenant.provider(name))
            if provider.isRegistrationManaged {
                invocation.warn(
                    "the client stays registered at the provider, and the token that manages it is destroyed")
                invocation.advise(
                    "delete the registration first: vaultctl provider registration delete \(Printable.argument(name))")
            }
            try confirmation.require("Remove provider \(Printable.shortened(name))", invocation)
            do {
                try await vault.removeProvider(named: tenant.provider(name))
            } catch let error as VaultError where error.code == .inUse {
                throw Failure(
                    error.code, error.message,
                    hints: ["end its logins first: vaultctl login list --provider NAME, vaultctl login revoke LOGIN"])
            }
        }
        try invocation.emit(OutputRecord([.data("removed", name)]), text: "")
        invocation.note("removed provider \(Printable.shortened(name))")
    }
}
