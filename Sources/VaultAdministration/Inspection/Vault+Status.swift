package import TokenVault
package import VaultStorage

extension Vault {
    /// The contents of the vault, in figures. Takes as long as counting its rows.
    package func status() async throws -> StoreStatistics {
        try await VaultError.translating { try await store.statistics() }
    }

    /// Checks every cell, every manifest and the audit chain. Memory stays bounded, and writers and all other work
    /// continue. Ends early when the task is cancelled.
    ///
    /// - Parameter progress: Called now and then with how many rows have been checked, of how many; first with 0 of 0,
    ///   while the database checks its own file.
    package func verify(
        progress: @escaping @Sendable (_ checked: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> VerificationReport {
        try await VaultError.translating { try await store.verify { progress($0.checked, $0.total) } }
    }
}
