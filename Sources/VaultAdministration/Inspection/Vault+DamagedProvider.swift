import OAuthClient
package import TokenVault
package import VaultStorage

extension Vault {
    /// Registers a provider again, in place of one whose row is damaged. Its logins stay its own.
    ///
    /// - Parameters:
    ///   - registration: The provider as it was, from your own records: the damaged row cannot be read.
    ///   - row: ``DamagedRow/name`` of the provider.
    ///   - isRehearsal: Whether nothing is replaced in the end.
    /// - Throws: ``VaultError``: ``VaultError/Code/unknownRow`` if there is no such row, ``VaultError/Code/conflict``
    ///   if it opens.
    @discardableResult
    package func addProvider(
        _ registration: ProviderRegistration, replacingDamaged row: DamagedRowName, isRehearsal: Bool = false
    ) async throws -> Provider {
        let record = try ProviderRecord(registration, createdAt: now)
        try await refuseSharing(record)
        return try await VaultError.translating {
            try Provider(
                await store.putProvider(record, replacingDamaged: row, isRehearsal: isRehearsal).record)
        }
    }
}
