import FoundationEssentials
import OAuthClient
import TokenVault

/// An invalid value of an option or an argument, and the valid alternatives.
struct InvalidValue {
    private let value: String
    /// As in the usage: `--since <when>`.
    private let option: String
    /// The rest of the parser's sentence, such as the valid values.
    private let rest: String

    init(value: String, option: String, rest: String = "") {
        self.value = value
        self.option = option
        self.rest = rest
    }

    /// Parses the parser's own sentence; nil if it says something else, or if the value may be a secret.
    init?(_ message: String) {
        let (front, middle) = ("The value '", "' is invalid for '")
        guard message.hasPrefix(front), let range = message.firstRange(of: middle) else { return nil }
        value = String(message[message.index(message.startIndex, offsetBy: front.count)..<range.lowerBound])
        let tail = message[range.upperBound...]
        option = String(tail.prefix { $0 != "'" })
        guard option.hasPrefix("-") || value.count < 16 else { return nil }
        rest = String(tail.dropFirst(option.count + 1))
    }

    var sentence: String {
        var text = rest.split(separator: "\n").map { line in
            let line = line.drop { $0 == " " }
            return line.hasPrefix("- ") ? line.dropFirst(2) : line
        }.joined(separator: ", ").replacing(":, ", with: ": ")
        while text.last == "." { text.removeLast() }
        return "the value '\(Printable.shortened(value))' is invalid for '\(option)'"
            + (text.isEmpty ? "" : ".:".contains(text.prefix(1)) ? text : " \(text)")
    }

    /// What to write instead, the most similar first.
    var hints: [String] {
        if TimeSpan.isTooLong(value) { return ["the longest length of time is a million days: 1000000d"] }
        let states = option.hasSuffix("<state>") ? StateOption.meant(by: value) : []
        if !states.isEmpty {
            return ["did you mean: " + states.map { "--state \($0.rawValue)" }.joined(separator: ", or ")]
        }
        if let near = nearChoice { return [near] }
        if let meant = lengthInWords { return ["did you mean: \(option.prefix { $0 != " " }) \(meant)"] }
        if let date = OtherDate(value), takesDate {
            let name = option.prefix { $0 != " " }
            return ["did you mean: " + date.meant.map { "\(name) \($0)" }.joined(separator: ", or ")]
        }
        let lengths = "use a length of time such as 90s, 15m, 2h, 30d or 1w; the units are \(TimeSpan.unitWords)"
        switch option.drop(while: { $0 != "<" }) {
        case "<time>"
        where option.hasPrefix("--keep-audit") && ["forever", "never", "all"].contains(value.lowercased()):
            return ["to keep all rows: --keep-whole-audit; else a length of time such as 400d"]
        case "<mode>": return ["use octal digits, such as 0660"]
        case "<time>": return missingUnit.map { [$0] } ?? noSuchDay + [lengths]
        case "<when>":
            return epoch ?? missingUnit.map { [$0] } ?? noSuchDay
                + ["use a length of time such as 2h or 30d, or a date such as \(CalendarTime.forms)"]
        case "<moment>":
            let isEndless = ["never", "none", "unlimited"].contains(value.lowercased())
            return isEndless
                ? ["leave it out for a secret that does not end; to remove a date: --remove client-secret-expires"]
                : epoch ?? missingUnit.map { [$0] } ?? noSuchDay
                    + [
                        "use a date such as 2027-05-31, or a length of time from now such as 180d; the units are "
                            + TimeSpan.unitWords
                    ]
        case "<date>":
            let isLength = option.hasPrefix("--expires-at") && TimeSpan(argument: value) != nil
            let length = isLength ? ["a length of time goes with: --expires-in \(value)"] : []
            return epoch ?? length + noSuchDay + ["use a date such as \(CalendarTime.forms)"]
        case "<row>" where !option.hasPrefix("--since"): return ["use the row's name: vaultctl damage list"]
        case "<row>":
            return [
                "use the number of a row: an export continues after the last row that it wrote",
                "to choose by time: vaultctl audit list --since 2h --json",
            ]
        case "<spans>":
            return fault(ofSpans: value).map { [$0] } ?? []
                + ["use spans: 24h,7d,5w,12mo keeps one backup for each of 24 hours, 7 days, 5 weeks, 12 months"]
        case "<field>" where value.hasPrefix("client-secret"):
            return ["a client without a secret: --client-auth none; the further ones: --drop-further-client-secrets"]
        case "<cursor>": return ["use the cursor of an event, or start, or now"]
        case "<size>": return ["use a size such as 512M or 2G"]
        case "<tenant>": return ["a tenant's name has 1 to 64 letters, digits, dots, hyphens and underscores"]
        case "<number>" where option.contains("-fd "):
            let name = option.prefix { $0 != " " }
            let opening = name == "--plain-to-fd" ? "3> >(PROGRAM)" : "3<FILE"
            return ["use the number of an open descriptor: \(name) 3 \(opening)"]
        case "<number>" where option.hasPrefix("--port"): return ["use a number such as 8080"]
        case "<count>" where option.hasPrefix("--death-limit"): return ["use a number such as 8; 0: any number"]
        case "<number>", "<count>", "<limit>":
            let isTooLarge = isNumber && value.count > 9
            return [isTooLarge ? "this number is too large: use one such as 100" : "use a number such as 100"]
        case "<days>": return [withoutUnit.map { "it is a number of days: \($0)" } ?? "use a number of days such as 30"]
        default: return repeated.map { [$0] } ?? []
        }
    }

    /// The first thing that is wrong with `24h, 7d` or `24h,7d,7d`.
    private func fault(ofSpans text: String) -> String? {
        let bare = text.filter { !$0.isWhitespace }
        if bare != text { return "write it without blanks: --keep \(Printable.shortened(bare))" }
        var seen: Set<Substring> = []
        for span in text.split(separator: ",") {
            let unit = span.drop { $0.isWholeNumber }
            let isNew = seen.insert(unit).inserted
            if !isNew { return "the unit \(Printable.shortened(String(unit))) is there twice" }
        }
        return nil
    }

    /// One of the valid values that is a typo away, or has the same beginning or end.
    private var nearChoice: String? {
        // `!dead` is the opposite of `dead`.
        guard let list = rest.firstRange(of: "one of the following:"), value.count > 2, option.hasPrefix("-"),
            value.first?.isLetter == true
        else {
            return nil
        }
        let choices = rest[list.upperBound...].split { ", \n".contains($0) }.map(String.init).filter { $0 != "-" }
        let word = value.lowercased().replacing("_", with: "-")
        let near = EditDistance.near(word, among: choices)
        // A secret is not removed along with its date.
        let isPart = { (choice: String) in choice.hasSuffix("-" + word) || choice.hasPrefix(word + "-") }
        let meant = near.isEmpty && !word.hasPrefix("client-secret") ? choices.filter(isPart) : near
        guard (1...3).contains(meant.count) else { return nil }
        let name = option.prefix { $0 != " " }
        return "did you mean: " + meant.map { "\(name) \($0)" }.joined(separator: ", or ")
    }

    private var takesDate: Bool { ["<when>", "<moment>", "<date>"].contains(String(option.drop { $0 != "<" })) }
    private var isNumber: Bool { !value.isEmpty && value.allSatisfy { $0.isASCII && $0.isWholeNumber } }

    /// `3d` or `1w` for an option that counts days.
    private var withoutUnit: Int64? {
        guard let span = TimeSpan(argument: value)?.duration.components.seconds, span.isMultiple(of: 86_400) else {
            return nil
        }
        return span / 86_400
    }

    /// `6months`, `180 days` and `in 2 weeks`, as they are typed here.
    private var lengthInWords: String? {
        guard ["<time>", "<when>", "<moment>"].contains(String(option.drop { $0 != "<" })) else { return nil }
        // `2 hours ago` is counted back as `2h` is.
        let isAgo = option.hasSuffix("<when>") && value.lowercased().hasSuffix(" ago")
        let text = value.lowercased().dropLast(isAgo ? 4 : 0).drop { !$0.isWholeNumber }
        let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
        let unit = text.dropFirst(digits.count).drop { " -_".contains($0) }
        let isAlone = ["", "in "].contains(value.lowercased().dropLast(text.count + (isAgo ? 4 : 0)))
        guard isAlone, let name = Self.units[unit.last == "s" ? String(unit.dropLast()) : String(unit)],
            TimeSpan(argument: digits + name) != nil
        else { return nil }
        return digits + name
    }

    private static let units = [
        "second": "s", "sec": "s", "minute": "m", "min": "m", "hour": "h", "hr": "h", "day": "d", "week": "w",
        "month": "mo", "year": "y", "yr": "y",
    ]

    private var missingUnit: String? {
        guard isNumber, value.count < 10 else { return nil }
        if value.count == 8, value.hasPrefix("19") || value.hasPrefix("20") {
            return CalendarTime(argument: value) != nil
                ? "expected a length of time, but this is a day"
                : "the calendar has no day \(value.prefix(4))-\(value.dropFirst(4).prefix(2))-\(value.suffix(2))"
        }
        return "a length of time has a unit: " + TimeSpan.readings(of: value, for: String(option.prefix { $0 != " " }))
    }

    /// Several values in one, of a repeatable option.
    private var repeated: String? {
        let parts = value.split(whereSeparator: { ",|;".contains($0) })
        guard parts.count > 1, rest.contains("one of"), !option.hasPrefix("--reason"), !option.hasPrefix("--by"),
            let name = option.split(separator: " ").first
        else {
            return nil
        }
        return "repeat the option for each: "
            + parts.prefix(4).map { "\(name) \(Printable.shortened(String($0)))" }
            .joined(separator: " ")
    }

    /// Seconds or milliseconds since 1970, as in logs.
    private var epoch: [String]? {
        let digits = value.hasPrefix("@") ? String(value.dropFirst()) : value
        guard (9...13).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isWholeNumber }),
            let number = Double(digits)
        else { return nil }
        let date = Date(timeIntervalSince1970: digits.count > 11 ? number / 1_000 : number)
        return ["seconds since 1970 are not accepted; that would be \(date.formatted(.iso8601))"]
    }

    private var noSuchDay: [String] {
        let day = value.prefix(10)
        let isShapedLikeOne = day.split(separator: "-").map(\.count) == [4, 2, 2]
        guard isShapedLikeOne, day.allSatisfy({ $0 == "-" || ($0.isASCII && $0.isWholeNumber) }),
            !ISODate.isDate(String(day))
        else { return [] }
        return ["the calendar has no day \(day)"]
    }
}
