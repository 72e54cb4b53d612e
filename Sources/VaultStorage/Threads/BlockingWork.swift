import Platform
import Synchronization

/// One piece of work that blocks, on its way to a thread of its own. See ``BlockingLane``.
package final class BlockingWork: Sendable {
    /// The work that the current thread does; nil on all other threads.
    @TaskLocal package static var current: BlockingWork?

    private let cancelled = Atomic<Bool>(false)

    /// Whether the caller no longer wants the work. Long work looks at it now and then.
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether the work that the current thread does is no longer wanted.
    package static var isCancelled: Bool { current?.isCancelled ?? false }
}

/// Threads for work that blocks: a few for each kind of work, made when there is some and gone when there is none.
///
/// Swift has as many threads as the machine has processors, and everything asynchronous in the process shares them.
/// While one of them stretches a passphrase or reads a whole vault, replies are not read and time-outs do not fire. A
/// detached task is no way out: it runs on the same threads.
package final class BlockingLane: Sendable {
    /// Opening, creating and unlocking. Argon2id takes 256 MiB or more at a time.
    package static let opening = BlockingLane(threads: 4)
    /// Work that reads much of a vault.
    package static let care = BlockingLane(threads: 4)
    /// Asking witnesses. A program may take its time to answer.
    package static let witness = BlockingLane(threads: 4)
    /// Closing waits for nothing but its own vault, and not behind another one.
    package static let closing = BlockingLane(threads: .max)

    private final class Job: Sendable {
        let work: BlockingWork
        /// Runs the work and answers; with an error it answers only.
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
    /// Cancelling the task withdraws work that has not begun, and tells work that has, see
    /// ``BlockingWork/isCancelled``; what it threw after that is not passed on.
    /// - Throws: `CancellationError`, what `body` throws, or a ``StoreError`` if the system gives no thread.
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

    /// Runs `body` whatever becomes of the task; on the current thread if the system gives no other.
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

    /// There is no thread for this work; what waits for one goes on waiting where another thread is at work.
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
                    .outOfMemory, "the system gives no thread to work on",
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
