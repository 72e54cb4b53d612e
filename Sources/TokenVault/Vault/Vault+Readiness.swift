import VaultStorage

extension Vault {
    private static let providersLookedAt = 16

    /// Returns if tokens can be had from this vault, and throws what is in the way otherwise: for the readiness probe of a
    /// service.
    ///
    /// It looks whether the vault's files lie where they should and are nobody else's, whether other processes still see
    /// this one as alive, and opens what is sealed of a few providers. It costs the same however many logins and providers
    /// there are.
    /// It neither writes nor sends: a full disk or a provider that is down do not make a vault unready, because tokens that
    /// are still good are served all the same. Nor does a damaged row: it stops nothing but itself.
    ///
    /// - Returns: Warnings: what was found damaged among the providers that were opened. ``damage(limit:)`` finds all.
    @discardableResult
    public func checkReadiness() throws -> [VaultError] {
        try requireOpen()
        return try VaultError.translating {
            for file in store.files() {
                if let problem = file.problem { throw problem }
            }
            if let refusal = store.readOnlyRefusal { throw refusal }
            guard store.ownsItsLock else {
                throw StoreError(
                    .ownershipLost, "other processes do not see this one as alive any more",
                    hint: "start this process anew")
            }
            let damage = try store.providers(after: nil, limit: Self.providersLookedAt).compactMap(\.damage)
            return try damage.map { damage in
                guard damage.isOfRow else { throw damage }
                return VaultError(damage)
            }
        }
    }
}
