import Glibc

/// Every job of Swift's concurrency in this program, in the hands of whoever runs the simulation: nothing runs unless he
/// picks it, and all of it runs on his thread.
///
/// The runtime asks a hook before it enqueues a job for its thread pool. A program that installs this one must use
/// nothing that enqueues elsewhere: no dispatch queues, no timers of the system, no thread of its own.
final class JobQueue: @unchecked Sendable {
    static let shared = JobQueue()

    /// Jobs belong to the simulated process whose code made their task; 0 is the world around the processes.
    struct Job {
        enum Work {
            case job(UnownedJob)
            /// A task that waits for its turn.
            case turn(CheckedContinuation<Void, Never>)
        }

        let work: Work
        let process: Int
    }

    private(set) var ready: [Job] = []
    /// Whose code is running.
    private(set) var current = 0
    /// By the runtime's number of the task, which is never used twice.
    private var processes: [UInt64: Int] = [:]

    /// The executor of code that belongs to no actor: two words, both zero.
    private static let nobody = unsafe unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    private init() {}

    /// Takes over. There is no way back.
    func install() {
        typealias Original = @convention(thin) (UnownedJob) -> Void
        typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
        let hook: Hook = { job, _ in JobQueue.shared.enqueue(job) }
        guard let symbol = unsafe dlsym(nil, "swift_task_enqueueGlobal_hook") else {
            preconditionFailure("this Swift runtime has no hook for jobs")
        }
        unsafe symbol.assumingMemoryBound(to: Optional<Hook>.self).pointee = hook
    }

    private func enqueue(_ job: UnownedJob) {
        let task = numberOfTask(job)
        let process: Int
        if let known = processes[task] {
            process = known
        } else {
            // New: whoever runs now has made it.
            processes[task] = current
            process = current
        }
        ready.append(Job(work: .job(job), process: process))
    }

    /// Lets others come first, perhaps. Not `Task.yield`: that enqueues behind the hook's back.
    func pause() async {
        await withCheckedContinuation { ready.append(Job(work: .turn($0), process: current)) }
    }

    /// Runs the job at this place of ``ready`` until it suspends.
    func run(_ index: Int) {
        let job = ready.remove(at: index)
        asProcess(job.process) {
            switch job.work {
            case .job(let job): unsafe job.runSynchronously(on: Self.nobody)
            case .turn(let continuation): continuation.resume()
            }
        }
    }

    /// Whatever `body` starts belongs to this process.
    func asProcess<R>(_ process: Int, _ body: () throws -> R) rethrows -> R {
        let before = current
        current = process
        defer { current = before }
        return try body()
    }

    /// Takes a process's jobs off the queue: it has died. They are given back so that they can be put to rest later.
    func removeJobs(of process: Int) -> [Job] {
        let removed = ready.filter { $0.process == process }
        ready.removeAll { $0.process == process }
        return removed
    }

    func putBack(_ jobs: [Job]) { ready += jobs }

    /// Forgets the tasks of a simulation that has ended.
    func reset() {
        ready = []
        processes.removeAll(keepingCapacity: true)
    }
}

@_silgen_name("swift_task_getJobTaskId")
private func numberOfTask(_ job: UnownedJob) -> UInt64
