import ArgumentParser
import TokenVault

struct ProviderAcceptDeathsCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-deaths",
        abstract: "Let a provider go on that was stopped because it ended many logins in a row.",
        discussion: """
            vaultctl provider accept-deaths acme

            A provider that ends one login after the other, and renews none between, may be out of order. It is \
            stopped: the next logins that it refuses wait, and one at a time probes. If it is right, because a contract \
            ended or all users were signed out, say so: for a day every login that it refuses ends at once.

            Without this, one renewal that succeeds lets it go on. Sends nothing.
            """)

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            let provider = tenant.provider(name)
            _ = try await vault.provider(named: provider)
            guard try await vault.stoppedProviders().contains(where: { $0.name == provider }) else {
                throw Failure.usage(
                    "provider \(Printable.shortened(name)) is not stopped: nothing was changed",
                    hint: "see whether one is: vaultctl doctor")
            }
            try confirmation.require(
                "Let provider \(Printable.shortened(name)) end any number of logins for a day", invocation)
            _ = try await vault.acceptDeaths(ofProvider: provider)
        }
        try invocation.emit(OutputRecord([.data("accepted", name)]), text: "")
        invocation.note("provider \(Printable.shortened(name)) continues: for a day, every login that it refuses ends")
    }
}
