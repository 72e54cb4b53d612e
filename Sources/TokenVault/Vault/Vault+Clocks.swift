package import VaultStorage

extension Vault {
    /// Checks whether the wall clock was set.
    @discardableResult
    func checkClock() -> Duration {
        guard let (now, uptime) = ClockWatch.read(timeSource) else { return .zero }
        return clock.look(now: now, uptime: uptime)
    }

    /// How long ago this was, by the clocks of this process.
    package func span(since: Timestamp) -> SteadyClock.Span {
        steady.span(since: since, now: now, uptime: timeSource.uptime())
    }
}
