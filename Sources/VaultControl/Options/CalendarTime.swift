import ArgumentParser
import FoundationEssentials
import OAuthClient

/// A point in time as people write it: `2026-11-25`, `2026-11-25 22:00`, `2026-11-25T22:00:00Z`, `yesterday`, `today`,
/// `tomorrow`, `now`. Days, and times without a zone, are in UTC, as vaultctl prints them.
enum CalendarTime: ExpressibleByArgument {
    case at(Date)
    /// A day this number of days after today.
    case day(Int)
    case now

    private static let days = ["yesterday": -1, "today": 0, "tomorrow": 1]
    static let forms = "2026-11-25, '2026-11-25 22:00', 2026-11-25T22:00:00Z, yesterday, today or now"

    /// Nil also for a day that the calendar lacks, or an hour that the day lacks.
    init?(argument: String) {
        let word = argument.lowercased()
        if word == "now" {
            self = .now
        } else if let day = Self.days[word] {
            self = .day(day)
        } else if let date = Self.date(argument) {
            self = .at(date)
        } else {
            return nil
        }
    }

    func date(now: Date) -> Date {
        switch self {
        case .at(let date): return date
        case .now: return now
        case .day(let offset):
            let midnight = (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
            return Date(timeIntervalSince1970: midnight + Double(offset) * 86_400)
        }
    }

    private static func date(_ given: String) -> Date? {
        // `20261125`, which cannot be a length of time.
        let isBasic = given.utf8.count == 8 && given.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let text = isBasic ? "\(given.prefix(4))-\(given.dropFirst(4).prefix(2))-\(given.suffix(2))" : given
        let day = text.prefix(10)
        guard ISODate.isDate(String(day)) else { return nil }
        var clock = text.dropFirst(10)
        if clock.isEmpty { clock = "T00:00" }
        guard let separator = clock.popFirst(), "Tt ".contains(separator) else { return nil }
        var zone = clock.firstIndex { "Zz+-".contains($0) }.map { clock[$0...] } ?? "Z"
        // `+0100` and `+01`, as `date` prints them.
        if zone.dropFirst().allSatisfy({ $0.isASCII && $0.isWholeNumber }), [3, 5].contains(zone.count) {
            zone = "\(zone.prefix(3)):\(zone.count == 5 ? zone.suffix(2) : "00")"
        }
        clock = clock.prefix { !"Zz+-".contains($0) }
        if clock.count(where: { $0 == ":" }) == 1 { clock += ":00" }
        guard let seconds = ISODate.seconds("\(day)T\(clock)\(zone)") else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }
}
