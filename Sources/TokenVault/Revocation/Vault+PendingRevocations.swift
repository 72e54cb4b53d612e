import VaultStorage

extension Vault {
    /// The oldest entries that can be opened.
    func readableRevocations(limit: Int) async throws(StoreError) -> [StoredOutboxEntry] {
        let size = 256
        var (entries, last) = ([StoredOutboxEntry](), nil as Int64?)
        while entries.count < limit {
            let page = try await store.outbox(after: last, limit: size)
            entries += page.compactMap(\.entry)
            guard page.count == size else { break }
            last = page.last?.sequence
        }
        return Array(entries.prefix(max(0, limit)))
    }

    /// Revocations that no provider has confirmed yet, oldest first.
    ///
    /// - Parameters:
    ///   - cursor: ``PendingRevocationPage/next`` of the previous page; nil for the first.
    ///   - limit: How many entries the page has at most, 0 to 10 000.
    package func pendingRevocations(
        after cursor: PendingRevocationPage.Cursor? = nil, limit: Int = 100
    ) async throws -> PendingRevocationPage {
        let limit = limit.asPageLimit
        return try await VaultError.translating {
            let listings = try await store.outbox(after: cursor?.sequence, limit: limit)
            let names = await providerNames(of: listings.compactMap { $0.entry?.record.provider })
            return PendingRevocationPage(
                entries: listings.map { listing in
                    guard let entry = listing.entry else {
                        return .damaged(
                            listing.handle.map { RevocationID($0) },
                            listing.damage?.message ?? "the row cannot be opened")
                    }
                    return .pending(PendingRevocation(entry, provider: names[entry.record.provider]))
                },
                next: listings.count < limit ? nil : listings.last.map { .init(sequence: $0.sequence) })
        }
    }
}
