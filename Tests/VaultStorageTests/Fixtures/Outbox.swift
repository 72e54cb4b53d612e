import VaultStorage

extension VaultStore {
    /// Every entry, due or not. One that cannot be opened is an error here.
    func outboxEntries(limit: Int) async throws(StoreError) -> [StoredOutboxEntry] {
        var entries: [StoredOutboxEntry] = []
        for listing in try await outbox(after: nil, limit: limit) {
            if let damage = listing.damage { throw damage }
            if let entry = listing.entry { entries.append(entry) }
        }
        return entries
    }
}
