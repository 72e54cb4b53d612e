/// The lifetime of a token in a reply.
struct ReplyLifetime: Equatable {
    var duration: Duration?
    var anomaly: ReplyAnomaly?

    /// Reads the first member that is present.
    ///
    /// - Parameter startedAt: seconds since 1970 at the start of the request; instants are counted from there.
    init(_ body: ReplyBody, _ members: [LifetimeMember], startedAt: Double) {
        for member in members {
            let field = body[member.name]
            if field.isAbsent { continue }
            let seconds = Self.seconds(field, member.unit, startedAt: startedAt)
            self.init(seconds: seconds)
            return
        }
        self.init(duration: nil, anomaly: nil)
    }

    private init(duration: Duration?, anomaly: ReplyAnomaly?) {
        self.duration = duration
        self.anomaly = anomaly
    }

    private init(seconds: Double?) {
        guard let seconds, !seconds.isNaN, seconds >= 0 else {
            self.init(duration: nil, anomaly: .unusableLifetime)
            return
        }
        let maximum = ReplyRules.maximumLifetime
        if seconds > Double(maximum.components.seconds) {
            self.init(duration: maximum, anomaly: .clampedLifetime)
        } else {
            // Bounded above, so the conversion cannot trap.
            self.init(duration: .milliseconds(Int64(seconds * 1_000)), anomaly: nil)
        }
    }

    private static func seconds(_ field: ReplyField, _ unit: LifetimeMember.Unit, startedAt: Double) -> Double? {
        let text: String
        switch field {
        case .number(let number): text = number
        case .text(let string): text = string
        default: return nil
        }
        let instant: Double?
        switch unit {
        case .seconds: return number(text)
        case .milliseconds: return number(text).map { $0 / 1_000 }
        case .epochSeconds: instant = number(text) ?? ISODate.seconds(text).map(Double.init)
        case .epochMilliseconds: instant = number(text).map { $0 / 1_000 } ?? ISODate.seconds(text).map(Double.init)
        }
        // An instant in the past means expired; it is not a negative lifetime.
        return instant.map { max(0, $0 - startedAt) }
    }

    /// A JSON number, possibly with white space around it if it is in a text. `NaN`, `inf` and hexadecimal, which
    /// `Double` would accept, are not numbers here.
    private static func number(_ text: String) -> Double? {
        let trimmed = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
        let bytes = Array(String(trimmed).utf8)
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }) else {
            return nil
        }
        return Double(String(trimmed))
    }
}
