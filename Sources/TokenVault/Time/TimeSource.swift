public import FoundationEssentials
package import VaultStorage

/// The source of a vault's time. Every reading of a clock and every wait goes through it, so that tests can control
/// them.
public protocol TimeSource: Sendable {
    /// The wall-clock time.
    func now() -> Date
    /// The time since some instant, by a clock that is never set and that keeps running while the machine sleeps. By
    /// default it follows ``now()``.
    func uptime() -> Duration
    /// Returns after this time, by a clock that does not jump; throws `CancellationError` when cancelled.
    func sleep(for duration: Duration) async throws
}

/// The clocks of the system.
package struct SystemTimeSource: TimeSource {
    package init() {}

    package func now() -> Date {
        Date()
    }

    package func uptime() -> Duration {
        // `CLOCK_BOOTTIME` on Linux.
        Self.start.duration(to: .now)
    }

    private static let start = ContinuousClock.now

    package func sleep(for duration: Duration) async throws {
        try await ContinuousClock().sleep(for: duration)
    }
}

extension TimeSource {
    public func uptime() -> Duration { .milliseconds(timestamp.milliseconds) }

    package var timestamp: Timestamp { Timestamp(now()) }
}
