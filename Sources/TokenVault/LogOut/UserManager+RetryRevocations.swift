import VaultStorage

extension UserManager {
    /// Which pending revocations to try.
    package enum RevocationSelection: Sendable, Equatable {
        /// Those whose time has come, after backoff and the provider's `Retry-After`.
        case due
        /// All, even before their time: for an operator who knows that a provider is back.
        case all
        /// These, even before their time.
        case only([RevocationID])
    }

    /// Asks providers again to revoke what they have not confirmed.
    ///
    /// A ``RenewalScheduler`` does this every half minute, and a manager when it is made and after each log-out; this
    /// method is for `vaultctl outbox retry`. Every failed try makes the pause before the next one longer, up to an
    /// hour, and a provider that fails three times in a row is left alone for the rest of the call. An entry is given
    /// up when it is older than ``UserManagerOptions/revocationLifetime`` and one more try has failed.
    ///
    /// A damaged entry is skipped; ``Vault/pendingRevocations(after:limit:)`` shows it.
    ///
    /// - Parameters:
    ///   - selection: Which entries to try. By default those whose pause is over.
    ///   - limit: How many entries to try at most, 0 to 10 000; those that are due, or older, come first.
    /// - Throws: ``VaultError`` if the outbox cannot be read, ``VaultError/Code/unknownRevocation`` if one that was
    ///   named is not in it.
    @discardableResult
    package func retryRevocations(
        _ selection: RevocationSelection = .due, limit: Int = 1_000
    ) async throws -> RevocationRetryReport {
        try vault.requireOpen()
        let limit = limit.asPageLimit
        let entries = try await VaultError.translating { try await self.entries(selection, limit) }
        let outcomes = await revoker.revoke(entries)
        try Task.checkCancellation()
        return RevocationRetryReport(
            results: entries.compactMap { entry in
                outcomes[entry.handle].map {
                    .init(id: RevocationID(entry.handle), login: entry.record.login.map { LoginID($0) }, outcome: $0)
                }
            })
    }

    private func entries(_ selection: RevocationSelection, _ limit: Int) async throws -> [StoredOutboxEntry] {
        switch selection {
        case .due: return try await vault.store.dueOutboxEntries(at: vault.now, limit: limit)
        case .all: return try await vault.readableRevocations(limit: limit)
        case .only(let ids):
            var entries: [StoredOutboxEntry] = []
            for id in ids.prefix(limit) { entries.append(try await vault.store.outboxEntry(id.handle)) }
            return entries
        }
    }
}
