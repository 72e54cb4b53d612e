import OAuthClient
import Synchronization
import VaultStorage

extension Vault {
    /// Changes a provider: its endpoints, our registration there, its secrets or its profile. Takes effect at once, in
    /// every process; a provider that was not asked any more because it refused our client is asked again.
    ///
    /// Grants belong to one client at one server. A change of the client id, of the issuer, or of where refresh tokens go is
    /// refused while logins hold refresh tokens from there, and while revocations still have to be confirmed there: they
    /// would be sent to somebody who never issued them. A token endpoint may move at the same origin if the issuer is known
    /// and stays the same.
    ///
    /// The change, with what was before, is in the audit trail; secrets are not.
    ///
    /// - Parameter force: Changes it whatever hangs on it.
    /// - Throws: ``VaultError``, for a refused change ``VaultError/Code/inUse``.
    @discardableResult
    public func updateProvider(
        named name: String, _ change: ProviderChange, force: Bool = false
    ) async throws -> ProviderUpdate {
        try await VaultError.translating {
            let handle = try store.provider(named: name).handle
            let revocations = try revocationsWaiting(for: handle)
            let made = Mutex<MadeChange?>(nil)
            let stored = try await store.updateProvider(handle) { record, use in
                let previous = record
                try record.apply(change)
                let orphans = Orphans(
                    logins: record.takesRefreshTokens(of: previous) ? 0 : use.refreshableLogins,
                    revocations: record.takesRevocations(of: previous) ? 0 : revocations)
                guard force || orphans.isEmpty else { throw VaultError(orphans) }
                made.withLock { $0 = MadeChange(previous: previous, orphans: orphans) }
                return orphans.isEmpty ? [] : [.init("forced", "true")]
            }
            guard let made = made.withLock({ $0 }) else { throw VaultError(.conflict, "the provider was not changed") }
            return ProviderUpdate(
                previous: Provider(made.previous), current: Provider(stored.record),
                changes: stored.record.changes(from: made.previous).map {
                    .init(field: $0.field, previous: $0.previous, current: $0.current)
                },
                orphanedLogins: made.orphans.logins, orphanedRevocations: made.orphans.revocations)
        }
    }

    private func revocationsWaiting(for provider: ProviderHandle) throws(StoreError) -> Int {
        var count = 0
        var last: Int64?
        while true {
            let page = try store.outbox(after: last, limit: 256)
            count += page.count { $0.entry?.record.provider == provider }
            guard page.count == 256, let sequence = page.last?.sequence else { return count }
            last = sequence
        }
    }
}

private struct MadeChange {
    let previous: ProviderRecord
    let orphans: Orphans
}

/// What a change would cut off from its server.
private struct Orphans: Sendable {
    var logins: Int
    var revocations: Int

    var isEmpty: Bool { logins == 0 && revocations == 0 }
}

extension VaultError {
    fileprivate init(_ orphans: Orphans) {
        let parts = [
            orphans.logins == 0 ? nil : "\(orphans.logins) login\(orphans.logins == 1 ? "" : "s")",
            orphans.revocations == 0
                ? nil : "\(orphans.revocations) pending revocation\(orphans.revocations == 1 ? "" : "s")",
        ]
        self.init(
            .inUse,
            "\(parts.compactMap { $0 }.joined(separator: " and ")) would be sent to another server or as another client",
            hint: "add it as a new provider, or force the change if it is the same server under another name")
    }
}

extension ProviderRecord {
    /// Whether refresh tokens that `old` issued to its client are at home here.
    fileprivate func takesRefreshTokens(of old: ProviderRecord) -> Bool {
        isSameClient(as: old) && isSamePlace(refreshAddress, old.refreshAddress, of: old)
    }

    fileprivate func takesRevocations(of old: ProviderRecord) -> Bool {
        guard let address = old.revocationEndpoint else { return true }
        guard let revocationEndpoint else { return false }
        return isSameClient(as: old) && isSamePlace(revocationEndpoint, address, of: old)
    }

    /// An issuer that was not known before may be learnt.
    private func isSameClient(as old: ProviderRecord) -> Bool {
        clientID == old.clientID && (issuer == old.issuer || old.issuer == nil)
    }

    private func isSamePlace(_ new: String, _ previous: String, of old: ProviderRecord) -> Bool {
        if new == previous { return true }
        guard let issuer, issuer == old.issuer else { return false }
        let origins = [new, previous].map { (try? EndpointURL(stored: $0))?.origin }
        return origins[0] != nil && origins[0] == origins[1]
    }

    private var refreshAddress: String { (try? profile.endpoints.refresh) ?? tokenEndpoint }
}
