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
            let orphans = "\(Count.of(waiting, "pending revocation")) could no longer be sent"
            let hasLogins = try await vault.hasLogins(atProvider: tenant.provider(name))
            if waiting > 0, !force { throw refused(orphans, hasLogins) }
            guard !hasLogins else { throw Failure(.inUse, "the provider still has logins", hints: [endLogins]) }
            if provider.isRegistrationManaged, !confirmation.isConfirmed {
                invocation.warn(
                    "the client stays registered at the provider, and the token that manages it will be destroyed")
                invocation.advise(
                    "delete the registration first: vaultctl provider registration delete \(Printable.argument(name))")
            }
            try confirmation.require("Remove provider \(Printable.shortened(name))", invocation)
            try await vault.removeProvider(named: tenant.provider(name), force: force)
            if waiting > 0 { invocation.warn("\(orphans); the grants stay valid until they end at the provider") }
            if provider.isRegistrationManaged {
                let client = Printable.shortened(provider.clientID.rawValue, to: 200)
                let server = provider.issuer.map { " at \(Printable.shortened($0.rawValue, to: 200))" } ?? ""
                invocation.warn("the client \(client) stays registered\(server): end it in the provider's console")
            }
        }
        try invocation.emit(OutputRecord([.data("removed", name)]), text: "")
        invocation.note("removed provider \(Printable.shortened(name))")
    }

    private var endLogins: String {
        "end its logins first: vaultctl login end --provider \(Printable.argument(name))"
            + (tenant.tenant.map { " --tenant \($0.tenant.name)" } ?? "")
    }

    /// Nothing helps while the provider has logins.
    private func refused(_ orphans: String, _ hasLogins: Bool) -> Failure {
        Failure(
            .inUse, orphans,
            hints: [
                "send them first: vaultctl outbox retry --all",
                hasLogins ? endLogins : "to remove the provider anyway: add --force",
            ])
    }
}
