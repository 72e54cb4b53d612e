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
            if provider.isRegistrationManaged, !confirmation.isConfirmed {
                invocation.warn(
                    "the client stays registered at the provider, and the token that manages it will be destroyed")
                invocation.advise(
                    "delete the registration first: vaultctl provider registration delete \(Printable.argument(name))")
            }
            try confirmation.require("Remove provider \(Printable.shortened(name))", invocation)
            do {
                try await vault.removeProvider(named: tenant.provider(name))
            } catch let error as VaultError where error.code == .inUse {
                throw Failure(
                    error.code, error.message, hints: ["end its logins first: vaultctl login end --provider NAME"])
            }
            if provider.isRegistrationManaged {
                let client = Printable.shortened(provider.clientID.rawValue, to: 200)
                let server = provider.issuer.map { " at \(Printable.shortened($0.rawValue, to: 200))" } ?? ""
                invocation.warn("the client \(client) stays registered\(server): end it in the provider's console")
            }
        }
        try invocation.emit(OutputRecord([.data("removed", name)]), text: "")
        invocation.note("removed provider \(Printable.shortened(name))")
    }
}
