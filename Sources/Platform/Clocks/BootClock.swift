import Glibc

/// The time since this machine started, the time in which it slept included. No one can set it.
package enum BootClock {
    /// Zero if the system does not say.
    package static var now: Duration {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
