import VaultStorage

/// What this process has had committed of late, command by command, so that it can be done once more where a failover has
/// lost it. Cells are sealed in it as they are in the vault.
///
/// Transactions that change the vault have numbers without gaps. Done again in their order, on the rows on which they were
/// done first, they come to the same rows.
final class CommitMemory {
    struct Transaction {
        let number: Int64
        /// The end of the trail that it found, and the one that it left.
        let before: WriteTransaction.AuditHead
        let after: WriteTransaction.AuditHead
        let changes: [RecordedChange]
    }

    /// As long as a standby may lag behind that is still promoted.
    static let longest = Duration.seconds(600)
    /// Of all values together.
    static let mostBytes = 32 << 20

    private struct Entry {
        let transaction: Transaction
        let byteCount: Int
        let time: SuspendingClock.Instant
    }

    private var entries: [Entry] = []
    private var byteCount = 0
    /// One whose outcome never came.
    var doubtful: Transaction?

    func add(_ transaction: Transaction, at time: SuspendingClock.Instant = .now) {
        let count = transaction.changes.reduce(64) { $0 + $1.parameters.byteCount + 64 }
        entries.append(Entry(transaction: transaction, byteCount: count, time: time))
        byteCount += count
        let isOld = entries.first.map { $0.time.duration(to: time) > Self.longest * 2 } ?? false
        if isOld || byteCount > Self.mostBytes { forget(at: time) }
    }

    /// What was in doubt is in the vault.
    func keepDoubtful() {
        guard let doubtful else { return }
        self.doubtful = nil
        add(doubtful)
    }

    /// A quarter at a time, since what is left moves up.
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

    /// Those that come right after so many changes of the vault, without a gap.
    func transactions(after number: Int64, withDoubtful: Bool) -> [Transaction] {
        var found: [Transaction] = []
        for entry in entries where entry.transaction.number == number + Int64(found.count) + 1 {
            found.append(entry.transaction)
        }
        if withDoubtful, let doubtful, doubtful.number == number + Int64(found.count) + 1 { found.append(doubtful) }
        return found
    }
}
