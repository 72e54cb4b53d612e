import ArgumentParser
import FoundationEssentials

/// A point in time on the command line: `2026-11-21T03:15:00Z`, or how long ago, as `2h` or `30d`.
struct PointInTime: ExpressibleByArgument {
    private enum Form {
        case at(Date)
        case ago(Duration)
    }

    private let form: Form

    init?(argument: String) {
        if let span = TimeSpan(argument: argument) {
            form = .ago(span.duration)
        } else if let date = MomentOption.parse(argument) {
            form = .at(date)
        } else {
            return nil
        }
    }

    func date(now: Date) -> Date {
        switch form {
        case .at(let date): date
        case .ago(let span): now.addingTimeInterval(-Double(span.components.seconds))
        }
    }
}
