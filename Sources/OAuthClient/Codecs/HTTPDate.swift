/// The date of a header field (RFC 9110 §5.6.7): the preferred form and both obsolete ones.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970.
    package static func seconds(_ text: String) -> Int? {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split(separator: " ")
        switch words.count {
        case 6 where words[5] == "GMT":
            return seconds(day: words[1], month: words[2], year: CivilTime.number(words[3], 4), clock: words[4])
        case 4 where words[3] == "GMT":
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, let short = CivilTime.number(date[2], 2) else { return nil }
            // The obsolete form has two-digit years, interpreted as in POSIX.
            return seconds(
                day: date[0], month: date[1], year: short < 70 ? 2_000 + short : 1_900 + short, clock: words[2])
        case 5:
            let day = words[2].utf8.count == 1 ? "0" + words[2] : String(words[2])
            return seconds(day: day[...], month: words[1], year: CivilTime.number(words[4], 4), clock: words[3])
        default: return nil
        }
    }

    private static func seconds(day: Substring, month: Substring, year: Int?, clock: Substring) -> Int? {
        guard let day = CivilTime.number(day, 2), let month = months.firstIndex(of: String(month)), let year,
            let clock = CivilTime.clock(clock)
        else { return nil }
        return CivilTime.seconds(
            year: year, month: month + 1, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    }
}
