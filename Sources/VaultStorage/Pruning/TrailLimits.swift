/// Limits for the rows of the audit trail that may be removed.
package struct TrailLimits: Sendable, Equatable {
    /// If set, only rows from before this time may be removed.
    package var before: Timestamp?
    /// This number of the newest rows stays, whatever their age.
    package var keepingLast: Int64
    /// Only rows up to this one may be removed.
    package var through: Int64
    /// Whether rows that do not continue the chain may be removed too. Otherwise pruning stops there, so that tampering
    /// with the trail stays visible.
    package var includesDamaged: Bool

    /// Other processes and event feeds that are behind by at most this many rows miss nothing.
    package static let leastKept: Int64 = 1_000

    package init(
        before: Timestamp?, keepingLast: Int64 = leastKept, through: Int64 = .max, includesDamaged: Bool = false
    ) {
        self.before = before
        self.keepingLast = max(1, keepingLast)
        self.through = through
        self.includesDamaged = includesDamaged
    }

    func allows(_ columns: AuditColumns, head: Int64) -> Bool {
        columns.sequence <= min(through, head.subtractingClamped(keepingLast))
            && before.map { columns.time < $0 } ?? true
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, isBeyond) = subtractingReportingOverflow(other)
        return isBeyond ? .min : difference
    }
}
