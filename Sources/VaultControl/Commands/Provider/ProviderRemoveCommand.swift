import ArgumentParser
import TokenVault

struct ProviderRemoveCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a provider that has no logins.",
        discussion: """
            vaultctl provider remove acme

            Refused while revocations wait for the provider, because they could no longer be sent; --force removes it \
            anyway. They are given up after 30 days, and the grants stay valid at the provider until they end there.
            """)

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @Flag(help: "Remove it even if revocations wait for it: they can no longer be sent.")
    var force = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            let provider = try await vault.provider(named: tenant.provider(name))
            let waiting = try await vault.revocationsWaiting(forProvider: tenant.provider(name))
            if waiting > 0 { try refuseOrphans(waiting, invocation) }
            if provider.isRegistrationManaged, !confirmation.isConfirmed {
                invocation.warn(
                    "the client stays registered at the provider, and the token that manages it will be destroyed")
                invocation.advise(
                    "delete the registration first: vaultctl provider registration delete \(Printable.argument(name))")
            }
            try confirmation.require("Remove provider \(Printable.shortened(name))", invocation)
            do {
                try await vault.removeProvider(named: tenant.provider(name), force: force)
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

    /// Reports the revocations that could no longer be sent, and stops unless that is intended.
    private func refuseOrphans(_ waiting: Int, _ invocation: Invocation) throws {
        let problem = "\(Count.of(waiting, "pending revocation")) could no longer be sent"
        guard force else {
            throw Failure(
                .inUse, problem,
                hints: ["send them first: vaultctl outbox retry --all", "to remove the provider anyway: add --force"])
        }
        invocation.warn("\(problem); the grants stay valid until they end at the provider")
    }
}
