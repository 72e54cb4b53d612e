/// A date and time with its zone, the format in which some servers send expiries (RFC 3339 §5.6).
package enum ISODate {
    /// Seconds since 1970; fractions are dropped.
    package static func seconds(_ text: String) -> Int? {
        guard text.utf8.count <= 64, let separator = text.firstIndex(where: { $0 == "T" || $0 == "t" || $0 == " " })
        else { return nil }
        let date = text[..<separator].split(separator: "-", omittingEmptySubsequences: false)
        let time = text[text.index(after: separator)...]
        guard date.count == 3, let year = CivilTime.number(date[0], 4), let month = CivilTime.number(date[1], 2),
            let day = CivilTime.number(date[2], 2),
            let zoneStart = time.firstIndex(where: { "Zz+-".contains($0) }), let offset = offset(time[zoneStart...])
        else { return nil }
        let parts = time[..<zoneStart].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let clock = CivilTime.clock(parts[0]), parts.count == 1 || parts[1].utf8.allSatisfy(isDigit),
            let local = CivilTime.seconds(
                year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
        else { return nil }
        return local - offset
    }

    /// Whether this is a day of the calendar, such as `2026-01-31`.
    package static func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = CivilTime.number(parts[0], 4), let month = CivilTime.number(parts[1], 2),
            let day = CivilTime.number(parts[2], 2)
        else { return false }
        return CivilTime.isDay(year: year, month: month, day: day)
    }

    private static func offset(_ zone: Substring) -> Int? {
        if zone == "Z" || zone == "z" { return 0 }
        let parts = zone.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hours = CivilTime.number(parts[0], 2), let minutes = CivilTime.number(parts[1], 2),
            hours < 24, minutes < 60
        else { return nil }
        return (zone.first == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
