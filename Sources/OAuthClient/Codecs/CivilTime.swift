/// A date and time of the proleptic Gregorian calendar, in UTC.
struct CivilTime {
    /// Seconds since 1970; nil if a part is out of its range.
    static func seconds(
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
