import ArgumentParser
import TokenVault

struct ProviderListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the providers.")

    @Option(help: .init("Only those of this tenant.", valueName: "tenant"))
    var tenant: TenantName?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let all = try await VaultAccess(global, invocation).open { vault in
            try await vault.require(tenant?.tenant)
            return try await vault.providerEntries()
        }
        // The tenant of an unreadable provider is sealed in it.
        let providers = all.filter { entry in
            guard let tenant, let provider = entry.provider else { return true }
            return Tenant.of(provider.name)?.tenant == tenant.tenant
        }
        try invocation.emit("providers", providers.map(ProviderView.record), ProviderView.headings)
        if all.isEmpty {
            invocation.hint("there is no provider yet; add one: vaultctl provider add NAME --issuer URL --client-id ID")
        }
    }
}
