package import FoundationEssentials
package import VaultStorage

// The one converter between stored time (integer milliseconds since 1970) and `Date`.
extension Timestamp {
    /// Rounds to the nearest millisecond; dates out of range are clamped. NaN becomes a time in the past: a token must
    /// not be valid permanently by mistake.
    package init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        let exact = Int64(exactly: milliseconds) ?? (milliseconds > 0 ? Self.greatest : Self.least)
        self.init(milliseconds: max(Self.least, min(exact, Self.greatest)))
    }

    package var date: Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    // About 280 000 years either way: no sum that the vault forms overflows.
    private static var least: Int64 { -(1 << 53) }
    private static var greatest: Int64 { 1 << 53 }
}

extension Duration {
    /// Whole milliseconds, towards zero; clamped to what fits.
    package var inMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflows) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        return sum
    }
}
