import VaultCrypto
package import VaultStorage

extension Vault {
    /// The number of the last row of the audit trail; 0 before the first.
    package func auditHead() async throws -> Int64 {
        try await VaultError.translating { try await store.auditHead() }
    }

    package func limits(_ retention: AuditRetention, _ includesDamaged: Bool = false) -> TrailLimits {
        TrailLimits(
            before: now.advanced(by: .zero - retention.age), keepingLast: retention.keepingLast,
            includesDamaged: includesDamaged)
    }

    /// Rows visited in one transaction, and how much longer than that the pause lasts.
    private static let pruningStep = 500
    private static let pruningPause = 3

    /// - Parameter time: Ends after this time, even if rows are left; nil: never.
    package func prune(
        _ limits: TrailLimits, for time: Duration?, _ progress: @Sendable (Int64) -> Void = { _ in }
    ) async throws -> PrunedRows {
        var all = PrunedRows()
        let end = time.map { timeSource.uptime() + $0 }
        repeat {
            let began = timeSource.uptime()
            all += try await VaultError.translating { try await store.pruneTrail(limits, size: Self.pruningStep) }
            progress(all.removed)
            let ended = timeSource.uptime()
            guard all.hasMore, !Task.isCancelled, end.map({ ended < $0 }) ?? true else { break }
            // Others come first: they have three quarters of the time.
            if ended > began { try await timeSource.sleep(for: (ended - began) * Self.pruningPause) }
        } while true
        return all
    }

    /// Too few rows for a pruning, because each pruning adds a row.
    private static let fewRows: Int64 = 100

    /// Whether pruning is worth while: a thousand rows may go, or some are a tenth older than they are kept. Otherwise
    /// a vault with little activity would prune one row that records a pruning, and write another one.
    func isPruningDue(_ retention: AuditRetention) async throws -> Bool {
        let due = now.advanced(by: .zero - retention.age)
        let overdue = due.advanced(by: .zero - retention.age / 10)
        let (first, last) = try await VaultError.translating { try await store.oldestRows(1_000) }
        let mayGo = try await auditHead() - retention.keepingLast
        if let last, last.time < due, last.sequence <= mayGo { return true }
        return first.map { $0.time < overdue && $0.sequence + Self.fewRows <= mayGo } ?? false
    }
}
