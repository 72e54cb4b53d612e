import ArgumentParser
import FoundationEssentials
import OAuthClient

/// A point in time on the command line: a date, or so long from now.
enum MomentOption: ExpressibleByArgument {
    case date(Date)
    case fromNow(TimeSpan)

    init?(argument: String) {
        if let span = TimeSpan(argument: argument) {
            self = .fromNow(span)
        } else if let date = Self.parse(argument) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Nil also for a day that the calendar, or an hour that the day does not have.
    static func parse(_ text: String) -> Date? {
        guard ISODate.seconds(text) != nil, ISODate.isDate(String(text.prefix(10))) else { return nil }
        return try? Date(text, strategy: .iso8601)
    }

    func date(now: Date) -> Date {
        switch self {
        case .date(let date): date
        case .fromNow(let span): now.addingTimeInterval(Double(span.duration.components.seconds))
        }
    }
}
