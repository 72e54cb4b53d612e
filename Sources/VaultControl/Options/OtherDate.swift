import OAuthClient

/// A date as other programs and countries write it: `25.11.2026`, `2026/11/25`, `25 Nov 2026`, and a zone of one digit.
struct OtherDate {
    /// As it is typed here; two where `11/12/2026` is a different day in different countries.
    let meant: [String]

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Nil if no day can be made out.
    init?(_ text: String) {
        let days = Self.days(text)
        meant = days.isEmpty ? Self.withWholeZone(text).map { [$0] } ?? [] : days
        guard !meant.isEmpty, meant != [text] else { return nil }
    }

    private static func days(_ text: String) -> [String] {
        let parts = text.split { " ./-,".contains($0) }
        let months = parts.map(month)
        let numbers = zip(parts, months).map { part, month in
            part.allSatisfy { $0.isASCII && $0.isWholeNumber } ? Int(part) : month
        }
        guard parts.count == 3, case let numbers = numbers.compactMap(\.self), numbers.count == 3 else { return [] }
        let candidates: [(year: Int, month: Int, day: Int)] =
            if parts[0].count == 4 {
                [(numbers[0], numbers[1], numbers[2])]
            } else if months[0] != nil {
                [(numbers[2], numbers[0], numbers[1])]
            } else if months[1] != nil || !text.contains("/") {
                [(numbers[2], numbers[1], numbers[0])]
            } else {
                [(numbers[2], numbers[0], numbers[1]), (numbers[2], numbers[1], numbers[0])]
            }
        let days = candidates.map { "\($0.year)-\(twoDigits($0.month))-\(twoDigits($0.day))" }
            .filter { ISODate.isDate($0) }
        return days.first == days.last ? Array(days.prefix(1)) : days
    }

    /// The number of `Nov` and of `November`.
    private static func month(_ word: Substring) -> Int? {
        guard word.count >= 3, word.allSatisfy(\.isLetter) else { return nil }
        return months.firstIndex { word.lowercased().hasPrefix($0) }.map { $0 + 1 }
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// `2026-11-25T22:00+01:00` for `2026-11-25T22:00+1`.
    private static func withWholeZone(_ text: String) -> String? {
        guard let hour = text.last, hour.isASCII, hour.isWholeNumber, let sign = text.dropLast().last,
            "+-".contains(sign)
        else { return nil }
        let whole = "\(text.dropLast())0\(hour):00"
        return CalendarTime(argument: whole) == nil ? nil : whole
    }
}
