import VaultCrypto
package import VaultStorage

extension Vault {
    /// Prepares what a transaction would otherwise prepare while it blocks others.
    ///
    /// - Parameter areNew: whether the vault most probably has none of the users: then the logins are sealed as well.
    package func prepareImported(
        _ logins: [ImportedLogin], for purpose: ImportPurpose, areNew: Bool = false
    ) -> [PreparedImport] {
        let now = now
        guard case .take(let owner) = purpose else { return logins.map { PreparedImport(login: $0, drafted: nil) } }
        let drafts = logins.map { scheduled($0.draft(owner: owner, now: now)) }
        let drafted = areNew ? store.seal(drafts) : drafts.map { DraftedLogin($0) }
        return zip(logins, drafted).map { PreparedImport(login: $0, drafted: $1) }
    }

    /// Imports logins of another system, or compares them with the vault's, in one transaction.
    ///
    /// - Parameter isRehearsal: Whether everything is undone at the end.
    /// - Returns: An answer for each, in their order.
    package func takeImported(
        _ logins: [PreparedImport], for purpose: ImportPurpose, isRehearsal: Bool
    ) async throws -> [ImportAnswer] {
        try requireOpen()
        for login in logins { _ = try ArgumentCheck.userId(login.login.userId) }
        let now = now
        return try await VaultError.translating {
            let drafted = logins.map { ($0.login.userId, $0.drafted) }
            return try await store.takeImported(drafted, isRehearsal: isRehearsal) { number, state in
                let meeting = state.meet(logins[number].login, for: purpose, now: now)
                if meeting != nil { state.dueAt = state.nextDue }
                return meeting
            }
        }
    }

    /// Returns a provider of the vault as rows of a source need it; nil if none has this name.
    ///
    /// - Parameter tenant: The provider's tenant. The rows themselves name no tenant.
    package func importTarget(
        named name: String, of tenant: Tenant? = nil
    ) async throws -> (provider: ProviderHandle, clientID: String)? {
        guard !Tenant.isQualified(name) else { return nil }
        do throws(StoreError) {
            let stored = try await store.provider(named: tenant?.qualify(name) ?? name)
            return (stored.handle, stored.record.clientID)
        } catch {
            if error.code == .notFound(.provider) { return nil }
            throw VaultError(error)
        }
    }
}

/// A login of another system, and what is added if the vault does not have it.
package final class PreparedImport: Sendable {
    package let login: ImportedLogin
    let drafted: DraftedLogin?

    init(login: ImportedLogin, drafted: DraftedLogin?) {
        self.login = login
        self.drafted = drafted
    }
}
