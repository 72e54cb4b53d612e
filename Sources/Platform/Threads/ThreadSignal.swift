import Glibc

/// A POSIX semaphore: a thread sleeps on it until it is woken. Sent once, it wakes one, also one that has yet to sleep.
@safe package final class ThreadSignal: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    package func send() { unsafe _ = sem_post(semaphore) }

    package func wait() {
        while unsafe sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
