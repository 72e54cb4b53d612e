import ArgumentParser
import FoundationEssentials

/// A point in time on the command line: a date, or how long ago, as `2h`, `30d` or `2h ago`.
struct PointInTime: ExpressibleByArgument {
    private enum Form {
        case at(CalendarTime)
        case ago(Duration)
    }

    private let form: Form

    init?(argument: String) {
        let span = argument.hasSuffix(" ago") ? String(argument.dropLast(4)) : argument
        if let span = TimeSpan(argument: span) {
            form = .ago(span.duration)
        } else if let date = CalendarTime(argument: argument) {
            form = .at(date)
        } else {
            return nil
        }
    }

    /// `0`, which people write for the very beginning, but which means now.
    var isZero: Bool { if case .ago(.zero) = form { true } else { false } }

    func date(now: Date) -> Date {
        switch form {
        case .at(let date): date.date(now: now)
        case .ago(let span): now.addingTimeInterval(-Double(span.components.seconds))
        }
    }
}
