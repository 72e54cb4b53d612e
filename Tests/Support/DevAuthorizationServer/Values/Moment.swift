import FoundationEssentials

/// An instant in milliseconds since 1970.
struct Moment: Comparable, Hashable, Sendable {
    var milliseconds: Int64

    var seconds: Int64 { milliseconds / 1000 }

    static func < (left: Moment, right: Moment) -> Bool { left.milliseconds < right.milliseconds }

    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(milliseconds: moment.milliseconds + duration.inMilliseconds)
    }

    static func - (moment: Moment, duration: Duration) -> Moment {
        Moment(milliseconds: moment.milliseconds - duration.inMilliseconds)
    }

    /// IMF-fixdate (RFC 9110 §5.6.7).
    var httpDate: String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.weekday, .day, .month, .year, .hour, .minute, .second],
            from: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = days[(parts.weekday ?? 1) - 1]
        let month = months[(parts.month ?? 1) - 1]
        let time = [parts.hour, parts.minute, parts.second].map { Self.padded($0 ?? 0, to: 2) }
        return "\(day), \(Self.padded(parts.day ?? 1, to: 2)) \(month) \(Self.padded(parts.year ?? 1970, to: 4)) "
            + time.joined(separator: ":") + " GMT"
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Duration {
    var inMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
