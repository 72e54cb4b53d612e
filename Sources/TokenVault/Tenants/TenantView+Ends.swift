import VaultStorage

extension TenantView {
    /// See ``UserManager/disableUser(_:)``.
    @discardableResult
    public func disableUser(_ userId: String) async throws -> RevocationReport {
        try await users.disable(user: qualified(userId))
    }

    /// See ``UserManager/enableUser(_:)``.
    public func enableUser(_ userId: String) async throws {
        try await users.enable(user: qualified(userId))
    }

    /// See ``UserManager/eraseUser(_:)``.
    @discardableResult
    public func eraseUser(_ userId: String) async throws -> RevocationReport {
        try await users.erase(user: qualified(userId))
    }

    /// Erases the tenant: each of its users as ``UserManager/eraseUser(_:)`` does, and then its providers. Other tenants are not
    /// touched. May be called again, after an error or to remove providers that were left.
    ///
    /// A provider stays for as long as revocations wait for it: ``TenantErasure/remainingProviders``. Users whose rows cannot
    /// be opened are of no tenant: look for them with `vaultctl damage list`.
    ///
    /// - Parameter progress: Called after each user with how many have been erased.
    public func erase(
        progress: @escaping @Sendable (_ erased: Int) -> Void = { _ in }
    ) async throws -> TenantErasure {
        var erasure = TenantErasure()
        var cursor: String?
        repeat {
            let page = try await users(after: cursor, limit: 500)
            for case .user(let user) in page.entries {
                try Task.checkCancellation()
                let report = try await eraseUser(user.id)
                erasure.users += 1
                if !report.isComplete { erasure.incomplete += 1 }
                progress(erasure.users)
            }
            cursor = page.next
        } while cursor != nil
        for provider in try await providers() where try await !removed(provider.name) {
            erasure.remainingProviders.append(provider.name)
        }
        return erasure
    }

    private func removed(_ name: String) async throws -> Bool {
        do {
            let waiting = try await VaultError.translating {
                let handle = try await vault.store.provider(named: tenant.qualify(name)).handle
                return try await vault.revocationsWaiting(for: handle)
            }
            guard waiting == 0 else { return false }
            try await removeProvider(named: name)
            return true
        } catch let error as VaultError where error.code == .inUse {
            return false
        }
    }
}

/// What became of a tenant that was erased.
public struct TenantErasure: Sendable, Equatable {
    /// How many users were erased.
    public internal(set) var users = 0
    /// Of how many of them a provider has not confirmed yet that all grants have ended. The vault goes on asking.
    public internal(set) var incomplete = 0
    /// Providers that are still there, because revocations wait for them, or because a user was added meanwhile.
    public internal(set) var remainingProviders: [String] = []

    /// Whether nothing of the tenant is left.
    public var isComplete: Bool { remainingProviders.isEmpty }
}
