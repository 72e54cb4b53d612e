import FoundationEssentials
import OAuthClient

/// The meaning of a value in a time column.
enum Moment: Equatable {
    /// No value, or one that means never.
    case none
    case at(Date)
    /// The zone comes from the plan.
    case assumed(Date)
    case unreadable

    /// Numbers above this are milliseconds: as seconds it would be the year 5138.
    private static let firstMillisecond = 100_000_000_000.0
    /// The end of the year 9999.
    private static let last = 253_402_300_799.0

    init(_ value: RawValue?, _ zoneless: ZonelessTimes) {
        switch value {
        case nil, .null?: self = .none
        case .integer(let number)?: self.init(epoch: Double(number))
        case .real(let number)?: self.init(epoch: number)
        case .number(let text)?: self.init(epoch: Double(text) ?? .nan)
        case .text(let text)?: self.init(text, zoneless)
        case .bytes(let bytes)?: self.init(String(decoding: bytes.prefix(64), as: UTF8.self), zoneless)
        case .bool?, .array?, .object?, .fault?: self = .unreadable
        }
    }

    /// Seconds or milliseconds. Programs store zero if they know no expiry.
    init(epoch number: Double) {
        guard number.isFinite, number >= 0 else {
            self = .unreadable
            return
        }
        guard number > 0 else {
            self = .none
            return
        }
        let seconds = number > Self.firstMillisecond ? number / 1_000 : number
        self = seconds <= Self.last ? .at(Date(timeIntervalSince1970: seconds)) : .unreadable
    }

    private init(_ text: String, _ zoneless: ZonelessTimes) {
        guard !text.isEmpty, text != "infinity" else {
            self = .none
            return
        }
        guard text.utf8.count <= 64 else {
            self = .unreadable
            return
        }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) {
            self.init(epoch: Double(text) ?? .nan)
            return
        }
        guard let time = WrittenTime(text) else {
            self = .unreadable
            return
        }
        let date = Date(timeIntervalSince1970: time.seconds - Double(time.offset ?? 0))
        switch (time.offset, zoneless) {
        case (_?, _): self = .at(date)
        case (nil, .utc): self = .assumed(date)
        case (nil, .offset(let seconds)): self = .assumed(date.addingTimeInterval(-Double(seconds)))
        case (nil, .unknown): self = .unreadable
        }
    }
}

/// `2026-01-31T23:59:59.123+01:00`, and the variants that databases write.
private struct WrittenTime {
    /// Since 1970, as if the zone were UTC.
    let seconds: Double
    /// Seconds east; nil if no zone was written.
    let offset: Int?

    init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.take("T") || scanner.take("t") || scanner.take(" "),
            let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2)
        else { return nil }
        var second = 0
        var fraction = 0.0
        if scanner.take(":") {
            guard let whole = scanner.number(2) else { return nil }
            second = whole
            if scanner.take(".") || scanner.take(",") {
                guard let part = scanner.fraction() else { return nil }
                fraction = part
            }
        }
        guard CivilTime.isDay(year: year, month: month, day: day),
            let whole = CivilTime.seconds(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        _ = scanner.take(" ")
        guard let zone = scanner.zone(), scanner.isAtEnd else { return nil }
        offset = zone.isWritten ? zone.seconds : nil
        seconds = Double(whole) + fraction
    }
}

private struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// A number of exactly this many digits.
    mutating func number(_ count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let digit = rest.first, (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 0x30)
            rest = rest.dropFirst()
        }
        return value
    }

    /// The fraction, in seconds, truncated to milliseconds.
    mutating func fraction() -> Double? {
        var milliseconds = 0
        var count = 0
        while let digit = rest.first, (0x30...0x39).contains(digit) {
            if count < 3 { milliseconds = milliseconds * 10 + Int(digit - 0x30) }
            count += 1
            rest = rest.dropFirst()
        }
        for _ in min(count, 3)..<3 { milliseconds *= 10 }
        return count > 0 ? Double(milliseconds) / 1_000 : nil
    }

    /// `Z`, `UTC`, `+01`, `+0100`, `+01:00`, `+01:00:00`, or nothing.
    mutating func zone() -> (seconds: Int, isWritten: Bool)? {
        if isAtEnd { return (0, false) }
        if take("Z") || take("z") { return (0, true) }
        if take("U") { return take("T") && take("C") ? (0, true) : nil }
        let isWest = take("-")
        guard isWest || take("+"), let hours = number(2), hours < 24 else { return nil }
        var seconds = hours * 3_600
        for unit in [60, 1] where !isAtEnd {
            _ = take(":")
            guard let part = number(2), part < 60 else { return nil }
            seconds += part * unit
        }
        return (isWest ? -seconds : seconds, true)
    }
}
