import ArgumentParser

/// A length of time on the command line: `90s`, `15m`, `2h`, `30d`, `1h30m`, or `0`. Any other number needs a unit:
/// intended days would pass at once as seconds.
struct TimeSpan: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    /// The same for every option. A month has 30 days, and a year 365.
    static let units: [String: Int64] = [
        "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "mo": 2_592_000, "y": 31_536_000,
    ]
    static let unitWords = "s, m (minutes), h, d, w, mo (months) or y"

    /// A million days is practically unlimited, and far from an overflow.
    private static let longest: Int64 = 86_400_000_000

    /// Whether it is a length of time that is too long.
    static func isTooLong(_ argument: String) -> Bool {
        let digits = argument.prefix { $0.isASCII && $0.isWholeNumber }
        return !digits.isEmpty && units[String(argument.dropFirst(digits.count))] != nil
            && TimeSpan(argument: argument) == nil
    }

    init?(argument: String) {
        guard argument != "0" else {
            duration = .zero
            return
        }
        var (rest, seconds, smallest) = (argument[...], Int64(0), Int64.max)
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isWholeNumber }
            let name = rest.dropFirst(digits.count).prefix { !$0.isWholeNumber }
            // `1h30m` is 90 minutes; `30m1h` is a mistake.
            guard let number = Int64(digits), let unit = Self.units[String(name)], unit < smallest,
                number <= Self.longest / unit
            else { return nil }
            // In `1y6m`, `m` was to mean months.
            if name == "m", smallest < .max, smallest >= Self.units["mo", default: 0] { return nil }
            seconds += number * unit
            smallest = unit
            rest = rest.dropFirst(digits.count + name.count)
        }
        guard !argument.isEmpty, seconds <= Self.longest else { return nil }
        duration = .seconds(seconds)
    }
}

extension TimeSpan {
    /// Options that take no shorter length, in which `m` most likely was to mean months.
    private static let leastHours: [String: Int64] = [
        "--client-secret-expires": 24, "--dead-for": 1, "--dying": 1, "--keep": 24, "--keep-audit": 24,
        "--rotate-root-every": 24,
    ]

    /// Refuses a length of time that is too short for its option.
    ///
    /// - Parameter isZeroAllowed: `0` has no unit to mistake.
    static func requireLength(_ span: TimeSpan?, of option: String, isZeroAllowed: Bool = false) throws {
        guard let span, let hours = leastHours[option], span.duration < .seconds(3_600 * hours),
            !isZeroAllowed || span.duration != .zero
        else { return }
        let words = hours == 24 ? "a day, 1d" : "an hour, 1h"
        throw ValidationError("\(option) must be at least \(words); m means minutes, and mo months")
    }

    /// What a number without a unit may mean for an option.
    static func readings(of number: String, for option: String) -> String {
        switch leastHours[option] {
        case nil: "\(number)s, \(number)m (minutes), \(number)h or \(number)d"
        case 24?: "\(number)d, \(number)w or \(number)mo (months)"
        default: "\(number)h, \(number)d or \(number)w"
        }
    }

    /// As typed, for the help.
    var defaultValueDescription: String {
        let seconds = duration.components.seconds
        if seconds > 0, seconds.isMultiple(of: 86_400) { return "\(seconds / 86_400)d" }
        return seconds.isMultiple(of: 60) ? "\(seconds / 60)m" : "\(seconds)s"
    }
}
