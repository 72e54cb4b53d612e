import FoundationEssentials

/// Points in time as people and programs read them.
enum Instant {
    /// `in 59 min`, `3 days ago`.
    static func relative(_ date: Date, now: Date) -> String {
        let seconds = date.timeIntervalSince(now)
        guard abs(seconds) >= 1 else { return seconds >= 0 ? "now" : "just now" }
        let words = duration(abs(seconds))
        return seconds >= 0 ? "in \(words)" : "\(words) ago"
    }

    /// The point in time, and how far away it is.
    ///
    /// - Parameter now: nil for a program, which would otherwise read another text at each run.
    static func words(_ date: Date, now: Date?) -> String {
        date.formatted(.iso8601) + (now.map { " (\(relative(date, now: $0)))" } ?? "")
    }

    static func duration(_ seconds: Double) -> String {
        // A stored date of the year 200 000 000 gets an answer instead of a trap.
        let whole = seconds.isFinite ? Int(min(seconds.rounded(), 1e15)) : 0
        switch whole {
        case ..<120: return "\(whole) s"
        case ..<7_200: return "\(whole / 60) min"
        case ..<172_800: return "\(whole / 3_600) h"
        default: return "\(whole / 86_400) days"
        }
    }
}
