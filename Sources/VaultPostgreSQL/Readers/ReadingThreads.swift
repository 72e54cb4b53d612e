import Glibc
import Synchronization
import VaultStorage

/// Threads on which reads wait for a server. Swift's own are as many as the machine has processors, and everything
/// asynchronous in the process shares them.
///
/// A read is a part of its caller's task that runs here: its body need not be copied nor outlive the call.
final class ReadingThreads: TaskExecutor {
    /// Of the process, whatever the number of vaults: so many connections for reading may be in use at once.
    static let shared = ReadingThreads(limit: ServerReaders.limit)

    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
        var idle = 0
    }

    private let limit: Int
    private let state = Mutex(State())
    private let work = Semaphore()

    init(limit: Int) { self.limit = limit }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.idle == 0, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else { return work.send() }
        if OwnThread.start({ self.run() }) { return }
        let isAlone = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        // The system gives no thread: better here than never.
        if isAlone { drain() } else { work.send() }
    }

    private func run() {
        while true {
            drain()
            state.withLock { $0.idle += 1 }
            work.wait()
            state.withLock { $0.idle -= 1 }
        }
    }

    private func drain() {
        while let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Never freed: the threads of a process sleep on it to its end.
@safe private struct Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    func send() { unsafe _ = sem_post(semaphore) }

    func wait() {
        while unsafe sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
