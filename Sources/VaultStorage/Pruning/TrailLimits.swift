/// Which rows of the audit trail may be removed.
package struct TrailLimits: Sendable, Equatable {
    /// Only those from before this time, if it is set.
    package var before: Timestamp?
    /// So many of the newest stay, whatever their age.
    package var keepingLast: Int64
    /// Only those up to this row.
    package var through: Int64
    /// Whether rows that do not continue the chain may go too. Otherwise nothing is removed from there on: what was done
    /// to the trail would no longer show.
    package var includesDamaged: Bool

    /// Other processes, and feeds of events, that are behind by no more than this miss nothing.
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
