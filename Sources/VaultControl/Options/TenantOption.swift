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
    @Option(help: .init("The tenant to which the user or the provider belongs.", valueName: "tenant"))
    var tenant: TenantName?

    /// What a user of this name is called in the vault.
    func user(_ name: String) -> String { tenant?.tenant.qualify(name) ?? name }

    /// What a provider of this name is called in the vault.
    func provider(_ name: String) -> String { tenant?.tenant.qualify(name) ?? name }

    /// What a source of imports is called in the vault. Two tenants may each have a `web`, and what is no longer in the one
    /// says nothing about the other.
    func source(_ name: String) -> String {
        guard let tenant, case let prefix = "\(tenant.tenant.name)/", !name.hasPrefix(prefix) else { return name }
        return prefix + name
    }

    /// The option as it is typed, for commands in hints.
    var typed: String { tenant.map { " --tenant \($0.tenant.name)" } ?? "" }
}

extension Printable {
    /// A user's or provider's name as a command in a hint takes it: one of a tenant with `--tenant`.
    static func argument(_ name: String) -> String {
        guard let (tenant, plain) = Tenant.of(name) else { return shortened(name) }
        return "\(shortened(plain)) --tenant \(tenant.name)"
    }
}

extension Vault {
    /// Refuses a tenant that has neither a provider nor a user: a list of nothing would look like an answer.
    func require(_ tenant: Tenant?) async throws {
        guard let tenant else { return }
        let isTheirs = { (name: String) in Tenant.of(name)?.tenant == tenant }
        if try await providers().contains(where: { isTheirs($0.provider?.name ?? "") }) { return }
        var cursor: String?
        repeat {
            let page = try await users(after: cursor, limit: Listing.pageSize)
            let found = page.entries.contains { entry in
                if case .user(let user) = entry { isTheirs(user.id) } else { false }
            }
            if found { return }
            cursor = page.next
        } while cursor != nil
        throw Failure(
            .notFound, code: "unknownTenant", "the vault has no tenant \(tenant.name)",
            hints: ["list all tenants: vaultctl tenant list"])
    }
}
