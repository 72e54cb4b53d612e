import VaultStorage

extension Vault {
    /// Returns if tokens can be had from this vault, and throws what is in the way otherwise: for the readiness probe of a
    /// service.
    ///
    /// It looks whether the vault's files lie where they should and are nobody else's, whether other processes still see
    /// this one as alive, and opens what is sealed of the providers. It costs the same however many logins there are.
    /// It neither writes nor sends: a full disk or a provider that is down do not make a vault unready, because tokens that
    /// are still good are served all the same.
    public func checkReadiness() throws {
        try requireOpen()
        try VaultError.translating {
            for file in store.files() {
                if let problem = file.problem { throw problem }
            }
            if let refusal = store.readOnlyRefusal { throw refusal }
            guard store.ownsItsLock else {
                throw StoreError(
                    .ownershipLost, "other processes do not see this one as alive any more",
                    hint: "start this process anew")
            }
            _ = try store.providers()
        }
    }
}
