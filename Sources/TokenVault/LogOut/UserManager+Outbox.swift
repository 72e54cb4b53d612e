import VaultStorage

extension UserManager {
    /// Which pending revocations to try.
    public enum RevocationSelection: Sendable, Equatable {
        /// Those whose time has come, after backoff and the provider's `Retry-After`.
        case due
        /// All, whenever their time is: for an operator who knows that a provider is back.
        case all
        /// These, whenever their time is.
        case only([RevocationID])
    }

    /// Asks providers again to revoke what they have not confirmed.
    ///
    /// A ``RenewalScheduler`` does it every half minute. Without one, call it now and then in a service that runs for long:
    /// a manager does it by itself only when it is made and after each log-out. Every try that fails makes the pause before
    /// the next one longer, up to an hour, and a provider that fails three times in a row is left alone for the rest of the
    /// call. An entry is given up when it is older than ``UserManagerOptions/revocationLifetime`` and one more try has
    /// failed.
    ///
    /// A damaged entry is passed over; ``Vault/pendingRevocations(after:limit:)`` shows it.
    ///
    /// - Parameters:
    ///   - selection: Which entries to try. By default those whose pause is over.
    ///   - limit: How many entries to try at most, 0 to 10 000; those that are due, or older, come first.
    /// - Throws: ``VaultError`` if the outbox cannot be read, ``VaultError/Code/unknownRevocation`` if one that was
    ///   named is not in it.
    @discardableResult
    public func retryRevocations(
        _ selection: RevocationSelection = .due, limit: Int = 1_000
    ) async throws -> RevocationRetryReport {
        try vault.requireOpen()
        let limit = limit.asPageLimit
        let entries = try VaultError.translating { () throws in
            switch selection {
            case .due: try vault.store.dueOutboxEntries(at: vault.now, limit: limit)
            case .all:
                try vault.readableRevocations(limit: limit)
            case .only(let ids): try ids.prefix(limit).map { try vault.store.outboxEntry($0.handle) }
            }
        }
        let outcomes = await engine.revoke(entries)
        try Task.checkCancellation()
        return RevocationRetryReport(
            results: entries.compactMap { entry in
                outcomes[entry.handle].map {
                    .init(id: RevocationID(entry.handle), login: entry.record.login.map { LoginID($0) }, outcome: $0)
                }
            })
    }
}

/// The outcome of retrying revocations.
public struct RevocationRetryReport: Sendable, Equatable {
    /// One for each entry that was tried; what another process has settled meanwhile is left out.
    public var results: [Result]

    public struct Result: Sendable, Equatable {
        public let id: RevocationID
        /// The login whose tokens these are; nil if they never became one.
        public let login: LoginID?
        public let outcome: RevocationReport.Outcome
    }

    /// Whether every entry is settled.
    public var isComplete: Bool { results.allSatisfy(\.outcome.isSettled) }
}

extension Vault {
    /// The oldest that can be opened.
    fileprivate func readableRevocations(limit: Int) throws(StoreError) -> [StoredOutboxEntry] {
        let size = 256
        var (entries, last) = ([StoredOutboxEntry](), nil as Int64?)
        while entries.count < limit {
            let page = try store.outbox(after: last, limit: size)
            entries += page.compactMap(\.entry)
            guard page.count == size else { break }
            last = page.last?.sequence
        }
        return Array(entries.prefix(max(0, limit)))
    }

    /// Revocations that no provider has confirmed yet, oldest first.
    ///
    /// - Parameters:
    ///   - cursor: ``PendingRevocationPage/next`` of the page before; nil for the first.
    ///   - limit: How many entries the page has at most, 0 to 10 000.
    public func pendingRevocations(
        after cursor: PendingRevocationPage.Cursor? = nil, limit: Int = 100
    ) throws -> PendingRevocationPage {
        let limit = limit.asPageLimit
        return try VaultError.translating {
            let listings = try store.outbox(after: cursor?.sequence, limit: limit)
            let names = providerNames(of: listings.compactMap { $0.entry?.record.provider })
            return PendingRevocationPage(
                entries: listings.map { listing in
                    guard let entry = listing.entry else {
                        return .damaged(
                            listing.handle.map { RevocationID($0) },
                            listing.damage?.reason ?? "the row cannot be opened")
                    }
                    return .pending(PendingRevocation(entry, provider: names[entry.record.provider]))
                },
                next: listings.count < limit ? nil : listings.last.map { .init(sequence: $0.sequence) })
        }
    }
}
