/// A limit of requests per minute, by a clock that is never set.
///
/// The burst and the refill together never exceed the limit in any minute.
struct TokenBucket: Equatable, Sendable {
    let requestsPerMinute: Int
    private let capacity: Double
    private let perSecond: Double
    private var level: Double
    private var filledAt: Duration

    init(requestsPerMinute: Int, now: Duration) {
        let atOnce = max(1, requestsPerMinute / 5)
        self.requestsPerMinute = requestsPerMinute
        capacity = Double(atOnce)
        perSecond = Double(max(1, requestsPerMinute - atOnce)) / 60
        level = capacity
        filledAt = now
    }

    /// The part of the capacity that is reserved for callers.
    private var reserve: Double { capacity >= 4 ? capacity / 4 : 0 }

    mutating func take(now: Duration, isBackground: Bool) -> Bool {
        fill(now)
        guard level >= 1 + (isBackground ? reserve : 0) else { return false }
        level -= 1
        return true
    }

    /// For a request that was not sent after all.
    mutating func giveBack() { level = min(capacity, level + 1) }

    /// How many may go now.
    mutating func available(now: Duration, isBackground: Bool) -> Int {
        fill(now)
        return max(0, Int(level - (isBackground ? reserve : 0)))
    }

    /// How long until one may go.
    mutating func wait(now: Duration, isBackground: Bool) -> Duration {
        fill(now)
        let missing = 1 + (isBackground ? reserve : 0) - level
        return missing <= 0 ? .zero : .milliseconds(Int64((missing / perSecond * 1_000).rounded(.up)))
    }

    private mutating func fill(_ now: Duration) {
        guard now > filledAt else { return }
        level = min(capacity, level + (now - filledAt) / .seconds(1) * perSecond)
        filledAt = now
    }
}
