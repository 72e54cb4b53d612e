import Glibc

/// The thread that calls.
package enum CurrentThread {
    /// Blocks the thread. Only for threads that are none of Swift's own, and for moments.
    package static func pause(microseconds: UInt32) { usleep(microseconds) }
}
