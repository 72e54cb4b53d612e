import Glibc

/// The clock of the calendar, which can be set at any moment.
package enum WallClock {
    /// Whole seconds since 1970; nil if the system does not say.
    package static var seconds: Int64? {
        var now = timespec()
        return unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 ? Int64(now.tv_sec) : nil
    }
}
