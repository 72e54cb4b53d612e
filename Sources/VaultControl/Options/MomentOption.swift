import ArgumentParser
import FoundationEssentials

/// A point in time on the command line: a date, or a length of time from now.
enum MomentOption: ExpressibleByArgument {
    case date(CalendarTime)
    case fromNow(TimeSpan)

    init?(argument: String) {
        if let span = TimeSpan(argument: argument) {
            self = .fromNow(span)
        } else if let date = CalendarTime(argument: argument) {
            self = .date(date)
        } else {
            return nil
        }
    }

    func date(now: Date) -> Date {
        switch self {
        case .date(let date): date.date(now: now)
        case .fromNow(let span): now.addingTimeInterval(Double(span.duration.components.seconds))
        }
    }
}
