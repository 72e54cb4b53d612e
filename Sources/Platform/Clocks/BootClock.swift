import Glibc

/// The time since this machine started, the time in which it slept included. No one can set it.
package enum BootClock {
    /// Zero if the system does not say.
    package static var now: Duration {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// Nanoseconds since the machine started, sleep not included, to a few milliseconds: read from memory that the kernel
    /// writes, without a system call. Nil if the system does not say.
    package static var coarseNanoseconds: Int64? {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time) == 0 else { return nil }
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
