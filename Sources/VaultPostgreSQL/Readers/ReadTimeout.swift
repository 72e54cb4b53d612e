/// Whether to wait a moment for a server's answer on the calling thread. Where answers take longer, it tries this less
/// and less often: each attempt wastes a moment.
struct ReadTimeout {
    /// How long an answer may take for the next one to be waited for: several times what a server takes on the same
    /// machine or a neighbouring one.
    private static let moment = Duration.microseconds(200)
    private static let mostMisses = 10

    private var misses = 0
    private var left = 0

    mutating func isWorthTrying() -> Bool {
        if left == 0 { return true }
        left -= 1
        return false
    }

    /// - Parameter time: how long an answer took; nil if it did not come.
    mutating func note(_ time: Duration?) {
        if let time, time <= Self.moment {
            misses = 0
        } else {
            misses = min(misses + 1, Self.mostMisses)
            left = 1 << misses
        }
    }
}
