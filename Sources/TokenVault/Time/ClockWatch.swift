import Synchronization
import VaultStorage

/// Notices that the wall clock was set back, by a clock that is never set, so that tokens from before do not look fresh
/// for longer than they are. `docs/adr/0021-a-clock-that-is-set-back.md`
///
/// In memory. It must be asked now and then; reading what was seen costs one load while the clock was never set back.
final class ClockWatch: Sendable {
    /// Clocks are slewed all the time, and two readings are never simultaneous.
    static let tolerance = Duration.seconds(5)
    /// The longest time between the readings of two clocks that are compared.
    private static let longestReading = Duration.seconds(1)

    /// How far the clock was set back, and its time then.
    struct SetBack: Equatable, Sendable {
        let by: Duration
        let at: Timestamp

        /// The current time for judging a token that was obtained when the wall clock showed `obtainedAt`.
        ///
        /// A token that cannot be from after the clock was set back is as old as the true clock says. A token from
        /// either before or after is assumed to be from after: otherwise every new token would look expired.
        func judging(_ obtainedAt: Timestamp, at now: Timestamp) -> Timestamp {
            obtainedAt < at || obtainedAt > now ? now.advanced(by: by) : now
        }
    }

    /// Wall clock minus uptime, at the last check.
    private let offset = Mutex<Duration?>(nil)
    private let lag = Atomic<Int64>(0)
    private let since = Atomic<Int64>(0)

    var setBack: SetBack? {
        let lag = lag.load(ordering: .acquiring)
        guard lag > 0 else { return nil }
        return SetBack(
            by: .milliseconds(lag), at: Timestamp(milliseconds: since.load(ordering: .relaxed)))
    }

    /// Readings of both clocks that belong together; nil if the thread was repeatedly interrupted between them. Then
    /// the next check decides.
    static func read(_ timeSource: any TimeSource) -> (now: Timestamp, uptime: Duration)? {
        for _ in 0..<3 {
            let before = timeSource.uptime()
            let now = timeSource.timestamp
            let after = timeSource.uptime()
            if after - before <= longestReading { return (now, before + (after - before) / 2) }
        }
        return nil
    }

    /// Compares the clocks. Returns how far the wall clock was set since the last check; negative: back.
    @discardableResult
    func look(now: Timestamp, uptime: Duration) -> Duration {
        let current = .milliseconds(now.milliseconds) - uptime
        return offset.withLock { offset in
            defer { offset = current }
            guard let last = offset else { return .zero }
            let step = current - last
            guard step < .zero - Self.tolerance || step > Self.tolerance else { return .zero }
            let lag = Duration.milliseconds(lag.load(ordering: .relaxed)) - step
            if step < .zero { since.store(now.milliseconds, ordering: .relaxed) }
            self.lag.store(max(0, lag.inMilliseconds), ordering: .releasing)
            return step
        }
    }
}
