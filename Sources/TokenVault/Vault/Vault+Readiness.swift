import VaultStorage

extension Vault {
    /// Returns if a change can be stored in this vault now, and otherwise throws what prevents it: it is opened for
    /// reading alone, or not writable, or another process keeps the write lock. Waits for that as long as a change would.
    /// Stores nothing.
    package func checkWriting() async throws {
        try requireOpen()
        try await VaultError.translating {
            if let refusal = store.readOnlyRefusal { throw refusal }
            try await store.write { _ in }
        }
    }

    private static let providersLookedAt = 16

    /// Returns if this vault can give out tokens, and otherwise throws what prevents it: for the readiness probe of a
    /// service.
    ///
    /// It checks that the vault's files are where they should be and belong to this vault, that other processes see
    /// this one as alive, and that a few providers can be opened. It costs the same however many logins and providers
    /// there are. It neither writes nor sends: a full disk or a provider that is down do not make a vault unready,
    /// because tokens that are still good are served anyway. Nor does a damaged row: it stops nothing but itself.
    ///
    /// - Returns: Warnings: what was found damaged among the providers that were opened. `vaultctl damage list` finds all.
    @discardableResult
    public func checkReadiness() async throws -> [VaultError] {
        try requireOpen()
        return try await VaultError.translating {
            for file in store.files() {
                if let problem = file.problem { throw problem }
            }
            if let refusal = store.readOnlyRefusal { throw refusal }
            if let refusal = try await store.moveMark()?.refusal { throw refusal }
            guard store.ownsItsLock else { throw store.lockLoss }
            let damage = try await store.providers(after: nil, limit: Self.providersLookedAt).compactMap(\.damage)
            return try damage.map { damage in
                guard damage.isOfRow else { throw damage }
                return VaultError(damage)
            }
        }
    }
}
