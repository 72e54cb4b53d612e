/// Dates and times of the proleptic Gregorian calendar, in UTC.
package enum CivilTime {
    /// Whether this is a day of the calendar.
    package static func isDay(year: Int, month: Int, day: Int) -> Bool {
        guard (1...9_999).contains(year), (1...12).contains(month) else { return false }
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let days = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
        return (1...days).contains(day)
    }

    /// Seconds since 1970; nil if a part is out of range. The 31st of a shorter month counts as a day of the next one:
    /// a caller that must reject it checks ``isDay(year:month:day:)`` first.
    package static func seconds(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
    ) -> Int? {
        guard (1...9_999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        // Days since 0000-03-01, after Howard Hinnant's days_from_civil: the year begins in March, so that the leap
        // day is its last.
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// `2026-01-31T23:59:59.123` in UTC; nil outside the years 1 to 9999.
    ///
    /// - Parameter separator: The text between date and time.
    package static func text(milliseconds: Int64, separator: String = "T") -> String? {
        let (days, time) = floored(Int(milliseconds), 86_400_000)
        // The inverse of the above, after Howard Hinnant's civil_from_days.
        let (era, dayOfEra) = floored(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        guard (1...9_999).contains(year) else { return nil }
        let clock = [time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60].map { digits($0, 2) }
        return digits(year, 4) + "-" + digits(month, 2) + "-" + digits(day, 2) + separator
            + clock.joined(separator: ":") + "." + digits(time % 1_000, 3)
    }

    private static func floored(_ number: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// A number of exactly `count` digits.
    static func number(_ text: some StringProtocol, _ count: Int) -> Int? {
        guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// `hh:mm:ss`.
    static func clock(_ text: some StringProtocol) -> (hour: Int, minute: Int, second: Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], 2), let minute = number(parts[1], 2),
            let second = number(parts[2], 2)
        else { return nil }
        return (hour, minute, second)
    }
}
