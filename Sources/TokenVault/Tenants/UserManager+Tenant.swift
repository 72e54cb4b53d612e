import VaultStorage

extension UserManager {
    /// This manager, for the users and providers of one tenant: user ids and names of providers are those within the tenant,
    /// in arguments and in what is returned.
    ///
    /// ```swift
    /// guard let tenant = Tenant("contoso") else { return }
    /// let contoso = users.scoped(to: tenant)
    /// let begun = try await contoso.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
    /// let token = try await contoso.accessToken(userId: "alice")
    /// ```
    ///
    /// A login of another tenant, or of none, is reported as unknown: ``VaultError/Code/unknownLogin``. Handlers and options
    /// stay those of the manager, and see the qualified ids (``Tenant/of(_:)``). A tenant needs no registration: it exists for
    /// as long as it has a user or a provider.
    public func scoped(to tenant: Tenant) -> UserManager { UserManager(self, names: TenantScope(tenant: tenant)) }

    /// Erases a tenant: each of its users as ``eraseUser(_:)`` does, and then its providers. Other tenants are not touched. May
    /// be called again, after an error or to remove the providers that remained.
    ///
    /// Users whose rows cannot be opened belong to no tenant: list them with `vaultctl damage list`.
    ///
    /// - Parameters:
    ///   - tenant: The tenant to erase.
    ///   - progress: Called after each user with the number erased so far.
    /// - Returns: Names of providers that remain, because revocations wait for them or a user was added meanwhile. Empty:
    ///   nothing of the tenant is left.
    @discardableResult
    public func eraseTenant(
        _ tenant: Tenant, progress: @escaping @Sendable (_ erased: Int) -> Void = { _ in }
    ) async throws -> [String] {
        try await erase(tenant, progress: progress).remainingProviders
    }

    package func erase(
        _ tenant: Tenant, progress: @escaping @Sendable (_ erased: Int) -> Void = { _ in }
    ) async throws -> TenantErasure {
        let scoped = scoped(to: tenant)
        var erasure = TenantErasure()
        for try await user in vault.users(of: tenant) {
            try Task.checkCancellation()
            let report = try await scoped.eraseUser(user.id)
            erasure.users += 1
            if !report.isComplete { erasure.incomplete += 1 }
            progress(erasure.users)
        }
        // A provider that remains could still make these users again.
        for newcomer in Set(try await vault.pendingLogIns { scoped.names.has($0.userId) }.map(\.userId)) {
            _ = try await VaultError.translating { try await vault.store.eraseNewcomer(newcomer) }
        }
        for provider in try await vault.providers(of: tenant)
        where try await !removed(provider.name, of: tenant) {
            erasure.remainingProviders.append(provider.name)
        }
        return erasure
    }

    private func removed(_ name: String, of tenant: Tenant) async throws -> Bool {
        do {
            try await vault.removeProvider(named: name, of: tenant)
            return true
        } catch let error as VaultError where error.code == .inUse {
            return false
        }
    }
}

/// The outcome of erasing a tenant.
package struct TenantErasure: Sendable, Equatable {
    /// How many users were erased.
    package internal(set) var users = 0
    /// Of these, how many have grants whose end a provider has not confirmed yet. The vault continues to ask.
    package internal(set) var incomplete = 0
    /// See ``UserManager/eraseTenant(_:progress:)``.
    package internal(set) var remainingProviders: [String] = []

    /// Whether nothing of the tenant is left.
    package var isComplete: Bool { remainingProviders.isEmpty }
}

extension Vault {
    /// The size of each tenant, in the order of their names. Reads every user, in bounded memory.
    package func tenants() async throws -> [TenantSummary] {
        var found: [Tenant: TenantSummary] = [:]
        for provider in try await providers() {
            guard let tenant = Tenant.of(provider.name)?.tenant else { continue }
            found[tenant, default: TenantSummary(tenant: tenant)].providers += 1
        }
        for try await user in users() {
            guard let tenant = Tenant.of(user.id)?.tenant else { continue }
            found[tenant, default: TenantSummary(tenant: tenant)].users += 1
            found[tenant]?.logins += user.logins.count
        }
        return found.values.sorted { $0.tenant.name < $1.tenant.name }
    }
}

/// The size of a tenant. Rows that cannot be opened count for no tenant, because the owner is sealed in them.
package struct TenantSummary: Sendable, Equatable {
    package let tenant: Tenant
    package internal(set) var users = 0
    package internal(set) var logins = 0
    package internal(set) var providers = 0
}
