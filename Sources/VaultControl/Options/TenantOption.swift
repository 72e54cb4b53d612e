import ArgumentParser
import TokenVault

/// A tenant on the command line.
struct TenantName: ExpressibleByArgument {
    let tenant: Tenant

    init?(argument: String) {
        guard let tenant = Tenant(argument) else { return nil }
        self.tenant = tenant
    }
}

/// Whose names a command means.
struct TenantOption: ParsableArguments {
    @Option(help: .init("The tenant that the provider belongs to.", valueName: "name"))
    var tenant: TenantName?

    /// What a provider of this name is called in the vault.
    func provider(_ name: String) -> String { tenant?.tenant.qualify(name) ?? name }
}
