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

/// The tenant of a command's names.
struct TenantOption: ParsableArguments {
    @Option(help: .init("The tenant to which the user or the provider belongs.", valueName: "tenant"))
    var tenant: TenantName?

    /// The name in the vault of a user with this name.
    func user(_ name: String) -> String { tenant?.tenant.qualify(name) ?? name }

    /// The name in the vault of a provider with this name.
    func provider(_ name: String) -> String { tenant?.tenant.qualify(name) ?? name }

    /// The name in the vault of an import source. Two tenants may each have a `web`, and a row that is missing in one
    /// says nothing about the other.
    func source(_ name: String) -> String {
        guard let tenant, case let prefix = "\(tenant.tenant.name)/", !name.hasPrefix(prefix) else { return name }
        return prefix + name
    }

    /// The option as typed, for commands in hints.
    var typed: String { tenant.map { " --tenant \($0.tenant.name)" } ?? "" }
}

extension Printable {
    /// A user's or provider's name as an argument of a command in a hint: a tenant's name with `--tenant`.
    static func argument(_ name: String) -> String {
        guard let (tenant, plain) = Tenant.of(name) else { return shortened(name) }
        return "\(shortened(plain)) --tenant \(tenant.name)"
    }
}

extension Failure {
    static func unknownTenant(_ tenant: Tenant, among all: [TenantSummary]) -> Failure {
        let near = EditDistance.near(tenant.name, among: all.map(\.tenant.name))
        return Failure(
            .notFound, code: "unknownTenant", "the vault has no tenant \(tenant.name)",
            hints: (near.isEmpty ? [] : ["did you mean: \(near.joined(separator: ", or "))"])
                + ["list all tenants: vaultctl tenant list"])
    }
}

extension Vault {
    /// Whether the tenant has a provider or a user.
    func has(_ tenant: Tenant) async throws -> Bool {
        if try await !providers(of: tenant).isEmpty { return true }
        for try await _ in users(of: tenant) { return true }
        return false
    }

    /// Refuses a tenant that has neither a provider nor a user: an empty list would look like an answer.
    func require(_ tenant: Tenant?) async throws {
        guard let tenant, try await !has(tenant) else { return }
        throw Failure.unknownTenant(tenant, among: try await tenants())
    }
}
