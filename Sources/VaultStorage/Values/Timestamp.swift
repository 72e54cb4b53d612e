/// An instant: milliseconds since 1970, as it is stored.
package struct Timestamp: Hashable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The instant `duration` later, clamped to what can be stored.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (product, tooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, tooFar) = milliseconds.addingReportingOverflow(product)
        guard !tooLong, !tooFar else {
            return Timestamp(milliseconds: seconds < 0 ? .min : .max)
        }
        return Timestamp(milliseconds: sum + attoseconds / 1_000_000_000_000_000)
    }

    /// How long after `other` this is; negative if before.
    package func since(_ other: Timestamp) -> Duration {
        .milliseconds(milliseconds) - .milliseconds(other.milliseconds)
    }
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
