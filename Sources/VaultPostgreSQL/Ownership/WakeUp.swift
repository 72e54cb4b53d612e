import CProcess
import Glibc

/// Wakes a thread that sleeps. Sent once, it wakes one, also one that has yet to sleep.
@safe struct WakeUp: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    /// Never freed: a thread may still sleep on it.
    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    func send() { unsafe _ = sem_post(semaphore) }

    /// - Parameter milliseconds: how long at most; nil: until it is sent.
    func wait(milliseconds: Int?) {
        guard let milliseconds else {
            while unsafe sem_wait(semaphore) != 0 && errno == EINTR {}
            return
        }
        // Not by the wall clock: where that is set back, the wait would last for as much longer.
        var time = timespec()
        unsafe _ = clock_gettime(CLOCK_MONOTONIC, &time)
        time.tv_nsec += milliseconds % 1_000 * 1_000_000
        time.tv_sec += milliseconds / 1_000 + time.tv_nsec / 1_000_000_000
        time.tv_nsec %= 1_000_000_000
        while unsafe sem_clockwait(semaphore, CLOCK_MONOTONIC, &time) != 0 && errno == EINTR {}
    }
}
