import Platform
import Synchronization

/// One piece of blocking work on its way to a separate thread. See ``BlockingLane``.
package final class BlockingWork: Sendable {
    /// The work of the current thread; nil on all other threads.
    @TaskLocal package static var current: BlockingWork?

    private let cancelled = Atomic<Bool>(false)

    /// Whether the caller no longer wants the work. Long work checks this from time to time.
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether the work of the current thread is no longer wanted.
    package static var isCancelled: Bool { current?.isCancelled ?? false }
}

/// Threads for blocking work: a few for each kind, created on demand and ended when idle.
///
/// Swift has as many threads as the machine has processors, and everything asynchronous in the process shares them.
/// While one of them stretches a passphrase or reads a whole vault, replies are not read and time-outs do not fire. A
/// detached task does not help: it runs on the same threads.
package final class BlockingLane: Sendable {
    /// Opening, creating and unlocking. Argon2id takes 256 MiB or more at a time.
    package static let opening = BlockingLane(threads: 4)
    /// Work that reads much of a vault.
    package static let care = BlockingLane(threads: 4)
    /// Calls to witnesses. A program may be slow to answer.
    package static let witness = BlockingLane(threads: 4)
    /// Closing waits only for its own vault, and never behind another one.
    package static let closing = BlockingLane(threads: .max)

    private final class Job: Sendable {
        let work: BlockingWork
        /// Runs the work and resumes the caller. With an error, it only resumes the caller.
        let run: @Sendable (_ refusal: (any Error)?) -> Void

        init(_ work: BlockingWork, _ run: @escaping @Sendable (_ refusal: (any Error)?) -> Void) {
            self.work = work
            self.run = run
        }
    }

    private struct State {
        var threads = 0
        var waiting: [Job] = []
    }

    private let limit: Int
    private let makeThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let state = Mutex(State())

    init(
        threads limit: Int,
        makeThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { OwnThread.start($0) }
    ) {
        self.limit = limit
        self.makeThread = makeThread
    }

    /// Runs `body` on a thread that may block.
    ///
    /// Cancelling the task withdraws work that has not begun, and notifies work that has; see
    /// ``BlockingWork/isCancelled``. Errors that the work throws after that are dropped.
    /// - Throws: `CancellationError`, the error of `body`, or a ``StoreError`` if the system provides no thread.
    package func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        let work = BlockingWork()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(Job(work) { continuation.resume(with: Self.result(of: body, work, refusal: $0)) })
            }
        } onCancel: {
            work.cancel()
            withdraw()
        }
    }

    /// Runs `body` even if the task is cancelled, on the current thread if the system provides no other.
    package func complete(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            submit(
                Job(BlockingWork()) { _ in
                    body()
                    continuation.resume()
                })
        }
    }

    private static func result<R>(
        of body: () throws -> R, _ work: BlockingWork, refusal: (any Error)?
    ) -> Result<R, any Error> {
        if let refusal { return .failure(refusal) }
        do {
            return .success(try BlockingWork.$current.withValue(work) { try body() })
        } catch {
            return .failure(work.isCancelled ? CancellationError() : error)
        }
    }

    private func submit(_ job: Job) {
        enum Outcome { case cancelled, queued, needsThread }
        let outcome = state.withLock { state -> Outcome in
            if job.work.isCancelled { return .cancelled }
            if state.threads >= limit {
                state.waiting.append(job)
                return .queued
            }
            state.threads += 1
            return .needsThread
        }
        switch outcome {
        case .queued: break
        case .cancelled: job.run(CancellationError())
        case .needsThread:
            guard !makeThread({ self.work(beginningWith: job) }) else { return }
            refuse(job)
        }
    }

    private func work(beginningWith first: Job) {
        var next: Job? = first
        while let job = next {
            job.run(job.work.isCancelled ? CancellationError() : nil)
            next = state.withLock { state in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.threads -= 1
                return nil
            }
        }
    }

    /// Refuses work without a thread. Waiting work keeps waiting if another thread is running.
    private func refuse(_ job: Job) {
        let refused = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [job] }
            defer { state.waiting = [] }
            return [job] + state.waiting
        }
        for job in refused {
            job.run(
                StoreError(
                    .outOfMemory, "the system provides no more threads",
                    hint: "raise the limits on processes and address space (ulimit -u, ulimit -v)"))
        }
    }

    private func withdraw() {
        let withdrawn = state.withLock { state in
            let withdrawn = state.waiting.filter(\.work.isCancelled)
            if !withdrawn.isEmpty { state.waiting.removeAll(where: \.work.isCancelled) }
            return withdrawn
        }
        for job in withdrawn { job.run(CancellationError()) }
    }
}
