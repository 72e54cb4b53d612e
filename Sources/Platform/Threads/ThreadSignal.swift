import Glibc

/// A POSIX semaphore: a thread sleeps on it until it is woken. Each send wakes one thread, even one that sleeps only
/// later.
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
