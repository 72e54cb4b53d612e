import VaultStorage

/// This process's recent commits, command by command, so that it can redo them where a failover has lost them. Cells
/// are sealed in it as they are in the vault.
///
/// Transactions that change the vault have numbers without gaps. Redone in that order, on the rows that they first ran
/// on, they produce the same rows.
final class CommitMemory {
    struct Transaction {
        let number: Int64
        /// The end of the trail before the transaction, and after it.
        let before: WriteTransaction.AuditHead
        let after: WriteTransaction.AuditHead
        let changes: [RecordedChange]
    }

    /// The longest time that a standby may lag and still be promoted.
    static let longest = Duration.seconds(600)
    /// The limit for all values together.
    static let mostBytes = 32 << 20

    private struct Entry {
        let transaction: Transaction
        let byteCount: Int
        let time: SuspendingClock.Instant
    }

    private var entries: [Entry] = []
    private var byteCount = 0
    /// A transaction whose outcome never arrived.
    var doubtful: Transaction?

    func add(_ transaction: Transaction, at time: SuspendingClock.Instant = .now) {
        let count = transaction.changes.reduce(64) { $0 + $1.parameters.byteCount + 64 }
        entries.append(Entry(transaction: transaction, byteCount: count, time: time))
        byteCount += count
        let isOld = entries.first.map { $0.time.duration(to: time) > Self.longest * 2 } ?? false
        if isOld || byteCount > Self.mostBytes { forget(at: time) }
    }

    /// Call when the doubtful transaction turns out to be in the vault.
    func keepDoubtful() {
        guard let doubtful else { return }
        self.doubtful = nil
        add(doubtful)
    }

    /// A quarter at a time, because removing it moves the rest.
    private func forget(at time: SuspendingClock.Instant) {
        var dropped = 0
        while dropped < entries.count - 1 {
            let isOld = entries[dropped].time.duration(to: time) > Self.longest
            guard isOld || byteCount > Self.mostBytes / 4 * 3 else { break }
            byteCount -= entries[dropped].byteCount
            dropped += 1
        }
        entries.removeFirst(dropped)
    }

    func forgetAll() {
        (entries, byteCount, doubtful) = ([], 0, nil)
    }

    /// The transactions that directly follow this change number, without a gap.
    func transactions(after number: Int64, withDoubtful: Bool) -> [Transaction] {
        var found: [Transaction] = []
        for entry in entries where entry.transaction.number == number + Int64(found.count) + 1 {
            found.append(entry.transaction)
        }
        if withDoubtful, let doubtful, doubtful.number == number + Int64(found.count) + 1 { found.append(doubtful) }
        return found
    }
}
