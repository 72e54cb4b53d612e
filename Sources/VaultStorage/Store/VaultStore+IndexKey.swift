import VaultCrypto

extension VaultStore {
    package func indexKeyStatus() async throws(StoreError) -> IndexKeyStatus {
        try await read { reader throws(StoreError) in try reader.indexKeyStatus() }
    }

    /// Makes a new index key, gives a new index to every row that is found by one, and retires the former key. If a
    /// replacement was interrupted, it is continued. All other operations continue in the meantime, in all processes.
    ///
    /// - Parameter progress: Called with the number of users processed and the total.
    package func replaceIndexKey(
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> IndexKeyReport {
        let (isBegun, former) = try await write { (try $0.beginIndexReplacement(), $0.formerIndexKey) }
        let total = try await survey { try $0.userCount() }
        var report = IndexKeyReport(isResumed: !isBegun)
        var looked = 0
        let size = Self.rowsAtOnce
        try await reindexAll(&report) {
            try $0.reindexUsers(after: $1, limit: size)
        } then: { count in
            looked += count
            progress(min(looked, total), total)
        }
        try await reindexAll(&report) { try $0.reindexProviders(after: $1, limit: size) }
        try await reindexAll(&report) { try $0.reindexAuthorizationRequests(after: $1, limit: size) }
        if report.isComplete, let former { try await write { try $0.retireIndexKey(former) } }
        return report
    }

    /// The number of rows in one transaction: other writers wait for some milliseconds at most.
    private static var rowsAtOnce: Int { 200 }

    /// Runs one transaction per batch until no rows remain.
    private func reindexAll(
        _ report: inout IndexKeyReport,
        _ reindex: @escaping @Sendable (WriteTransaction, _ last: Int64) throws -> WriteTransaction.Reindexed,
        then note: (_ looked: Int) -> Void = { _ in }
    ) async throws {
        var last: Int64 = .min
        while true {
            let after = last
            let batch = try await write { try reindex($0, after) }
            report.moved.add(batch.moved)
            report.unreadable.add(batch.unreadable)
            note(batch.looked)
            guard let end = batch.last else { return }
            last = end
            try Task.checkCancellation()
        }
    }
}
