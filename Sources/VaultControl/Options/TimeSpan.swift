import ArgumentParser

/// A length of time on the command line: `90`, `90s`, `15m`, `2h`, `30d`.
struct TimeSpan: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        var digits = Substring(argument)
        var unit: Int64 = 1
        if let last = digits.last, let found = units[last] {
            unit = found
            digits = digits.dropLast()
        }
        // A million days is as good as for ever, and far from an overflow.
        guard !digits.isEmpty, digits.allSatisfy(\.isWholeNumber), let number = Int64(digits),
            number <= 86_400_000_000 / unit
        else { return nil }
        duration = .seconds(number * unit)
    }
}

extension TimeSpan {
    /// As it would be typed, for the help.
    var defaultValueDescription: String {
        let seconds = duration.components.seconds
        if seconds > 0, seconds.isMultiple(of: 86_400) { return "\(seconds / 86_400)d" }
        return seconds.isMultiple(of: 60) ? "\(seconds / 60)m" : "\(seconds)s"
    }
}
