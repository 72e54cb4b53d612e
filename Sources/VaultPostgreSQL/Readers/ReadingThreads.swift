import Platform
import Synchronization
import VaultStorage

/// Threads on which reads wait for a server. Swift has only as many threads as the machine has processors, and
/// everything asynchronous in the process shares them.
///
/// A read is a part of its caller's task that runs here: its body need not be copied or outlive the call.
final class ReadingThreads: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
        var idle = 0
        var isClosed = false
    }

    private let limit: Int
    private let state = Mutex(State())
    private let work = ThreadSignal()

    /// - Parameter limit: the maximum number of connections for reading in use at once. Each vault has its own threads,
    ///   so reads that wait for one server block no read of a vault on another.
    init(limit: Int) { self.limit = limit }

    /// Lets the threads end. Later work runs on threads that end after it.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            return state.idle
        }
        for _ in 0..<idle { work.send() }
    }

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
        // The system provides no thread: running it here is better than never.
        if isAlone { drain() } else { work.send() }
    }

    private func run() {
        while true {
            drain()
            let isOver = state.withLock { state in
                guard state.isClosed else {
                    state.idle += 1
                    return false
                }
                state.threads -= 1
                return true
            }
            if isOver { return drain() }
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
