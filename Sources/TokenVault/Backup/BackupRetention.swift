import FoundationEssentials

/// The number of hours, days, weeks and months for which backups are kept. Of each such period in which backups were
/// made, the last one is kept; periods without a backup do not count.
///
/// ```swift
/// let retention = BackupRetention("24h,7d,5w,12mo")
/// ```
///
/// The newest backup is always kept.
public struct BackupRetention: Sendable, Equatable, LosslessStringConvertible {
    package var hours: Int
    package var days: Int
    package var weeks: Int
    package var months: Int

    public init(hours: Int = 0, days: Int = 0, weeks: Int = 0, months: Int = 0) {
        self.hours = max(0, hours)
        self.days = max(0, days)
        self.weeks = max(0, weeks)
        self.months = max(0, months)
    }

    /// Reads parts such as `24h`, `7d`, `5w` and `12mo`, each at most once, joined by commas. A single `m` is refused: where
    /// lengths of time are written, it stands for minutes.
    public init?(_ description: String) {
        var numbers: [String: Int] = [:]
        for part in description.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.prefix { $0.isASCII && $0.isNumber }
            let unit = String(part.dropFirst(digits.count))
            guard ["h", "d", "w", "mo"].contains(unit), numbers[unit] == nil, let number = Int(digits),
                (1...10_000).contains(number)
            else { return nil }
            numbers[unit] = number
        }
        self.init(
            hours: numbers["h"] ?? 0, days: numbers["d"] ?? 0, weeks: numbers["w"] ?? 0, months: numbers["mo"] ?? 0)
    }

    public var description: String {
        [(hours, "h"), (days, "d"), (weeks, "w"), (months, "mo")].filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }
            .joined(separator: ",")
    }

    /// Those that need not be kept, the oldest first. Times are in UTC; a week begins on Monday.
    package func expired(_ backups: [Backup]) -> [Backup] {
        let newestFirst = backups.sorted { $0.madeAt > $1.madeAt }
        var kept = Set(newestFirst.prefix(1).map(\.id))
        let spans: [(count: Int, of: (Int) -> Int)] = [
            (hours, { $0 / 3_600 }), (days, { $0 / 86_400 }),
            // The first of January 1970 was a Thursday.
            (weeks, { ($0 / 86_400 + 3) / 7 }), (months, { Self.month(ofDay: $0 / 86_400) }),
        ]
        for span in spans {
            var seen: Set<Int> = []
            for backup in newestFirst where seen.count < span.count {
                let seconds = Int(max(0, min(backup.madeAt.timeIntervalSince1970, 1e12)))
                if seen.insert(span.of(seconds)).inserted { kept.insert(backup.id) }
            }
        }
        return newestFirst.reversed().filter { !kept.contains($0.id) }
    }

    /// Months since the year 0, by the Gregorian calendar, which here begins on 1 March, so that leap days come last.
    private static func month(ofDay day: Int) -> Int {
        let shifted = day + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        return (era * 400 + yearOfEra) * 12 + (5 * dayOfYear + 2) / 153
    }
}

extension BackupRetention: NameRendering {}
