/// An instant in milliseconds since 1970, as it is stored.
package struct Timestamp: Hashable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static let earliest = Timestamp(milliseconds: .min)
    package static let latest = Timestamp(milliseconds: .max)

    /// The instant `duration` later, clamped to the range that can be stored.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (product, tooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, tooFar) = milliseconds.addingReportingOverflow(product)
        let (whole, beyond) = sum.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        guard !tooLong, !tooFar, !beyond else {
            return Timestamp(milliseconds: duration < .zero ? .min : .max)
        }
        return Timestamp(milliseconds: whole)
    }

    /// The instant that many milliseconds later, clamped in the same way.
    package func advanced(byMilliseconds difference: Int64) -> Timestamp {
        let (sum, tooFar) = milliseconds.addingReportingOverflow(difference)
        return Timestamp(milliseconds: tooFar ? (difference < 0 ? .min : .max) : sum)
    }

    /// The number of milliseconds between `other` and this instant, clamped to the range of the integer.
    package func milliseconds(since other: Timestamp) -> Int64 {
        let (difference, tooFar) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        return tooFar ? (milliseconds < 0 ? .min : .max) : difference
    }

    /// The time between `other` and this instant; negative if this one is earlier.
    package func since(_ other: Timestamp) -> Duration {
        .milliseconds(milliseconds) - .milliseconds(other.milliseconds)
    }
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
