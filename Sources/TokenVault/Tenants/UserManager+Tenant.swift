extension UserManager {
    /// The users and providers of one tenant, under their plain names, and nothing else of the vault.
    ///
    /// ```swift
    /// guard let tenant = Tenant("contoso") else { return }
    /// let contoso = users.tenant(tenant)
    /// // Its own client at this provider.
    /// try await contoso.addProvider(
    ///     ProviderRegistration(
    ///         name: "acme", tokenEndpoint: EndpointURL("https://login.acme.example/token"),
    ///         clientID: ClientID("contoso-app")))
    /// let begun = try await contoso.beginLogIn(userId: "alice", provider: "acme")
    /// let token = try await contoso.accessToken(userId: "alice")
    /// ```
    ///
    /// A tenant needs no registration: it is there for as long as it has a user or a provider.
    public func tenant(_ tenant: Tenant) -> TenantView { TenantView(tenant: tenant, users: self) }
}

extension Vault {
    /// How much each tenant has, in the order of their names. Looks at every user, in bounded memory.
    package func tenants() async throws -> [TenantSummary] {
        var found: [Tenant: TenantSummary] = [:]
        for case .provider(let provider) in try await providers() {
            guard let tenant = Tenant.of(provider.name)?.tenant else { continue }
            found[tenant, default: TenantSummary(tenant: tenant)].providers += 1
        }
        var cursor: String?
        repeat {
            let page = try await users(after: cursor, limit: 1_000)
            for case .user(let user) in page.entries {
                guard let tenant = Tenant.of(user.id)?.tenant else { continue }
                found[tenant, default: TenantSummary(tenant: tenant)].users += 1
                found[tenant]?.logins += user.logins.count
            }
            cursor = page.next
        } while cursor != nil
        return found.values.sorted { $0.tenant.name < $1.tenant.name }
    }
}

/// How much a tenant has. Rows that cannot be opened count for no tenant: whose they are is sealed in them.
package struct TenantSummary: Sendable, Equatable {
    package let tenant: Tenant
    package internal(set) var users = 0
    package internal(set) var logins = 0
    package internal(set) var providers = 0
}
