// In UTC, by the Gregorian calendar.
extension Timestamp {
    /// `2026-11-22T22:53:34Z`
    var text: String {
        let (date, time, _) = parts
        return "\(date.joined(separator: "-"))T\(time.joined(separator: ":"))Z"
    }

    /// `20261122T225334.012Z`, the basic format of ISO 8601.
    var basicText: String {
        let (date, time, rest) = parts
        return "\(date.joined())T\(time.joined()).\(rest)Z"
    }

    /// Year, month and day; hour, minute and second; milliseconds. The date is counted from 1 March of the year 0, so that
    /// leap days come last.
    private var parts: (date: [String], time: [String], milliseconds: String) {
        let all = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        let whole = all.remainder < 0 ? all.quotient - 1 : all.quotient
        let rest = all.remainder < 0 ? all.remainder + 1_000 : all.remainder
        let seconds = ((whole % 86_400) + 86_400) % 86_400
        let shifted = (whole - seconds) / 86_400 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (
            [Self.digits(year, 4), Self.digits(month, 2), Self.digits(day, 2)],
            [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { Self.digits($0, 2) }, Self.digits(rest, 3)
        )
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
