import Platform
package import Synchronization

/// Runs operations on an engine's connection for writing, several of them in one transaction. One thread at a time uses it.
package protocol WriteBatching: AnyObject {
    /// Runs and finishes all operations.
    ///
    /// - Parameter committed: Called after each commit, before the waiting callers continue. Reactions of this
    ///   process's observers have begun by then. See ``WriteTransaction/dueFrom``.
    func perform(_ operations: [any WriteOperation], committed: (_ dueFrom: Timestamp) -> Void)

    /// Runs and finishes one operation as ``perform(_:committed:)`` does, but waits for nothing that others hold.
    ///
    /// - Returns: false if it would have to wait, or if there is more to do than this operation. Then nothing has happened.
    func performAtOnce(_ operation: any WriteOperation, committed: (_ dueFrom: Timestamp) -> Void) -> Bool

    /// Closes the connection when nothing more will be written.
    func close()
}

/// The process's only writer of a vault, on a separate thread.
///
/// It takes all waiting operations, lets the engine commit them together, and notifies the callers. If no other
/// operation is waiting, one is committed at once: a short one by the caller's thread itself, where the disk is so fast that
/// the two changes of thread would take as long as the commit. See ADR 0150.
package final class WriterThread: Sendable {
    /// More operations than ever wait at once in normal use. It bounds the memory of one transaction.
    package static let batchLimit = 256

    /// How long callers run their operations before one of them lets others have its thread. Doing so may wake another
    /// thread, which takes as long as a short operation.
    private static let longestRun = Duration.milliseconds(5)

    private struct State {
        var waiting: [any WriteOperation] = []
        var isClosing = false
        var hasThread = false
        /// The thread itself, while it runs.
        var thread: ThreadID?
        /// The action after the last operation.
        var ending: (@Sendable () -> Void)?
        /// Whether a thread uses the batch.
        var isTaken = false
        /// The thread that uses it, if that is a caller's.
        var caller: ThreadID?
        /// When a caller last let others have its thread.
        var gaveWayAt = SuspendingClock.now
        /// How long single operations have taken lately; nil before the first.
        var pace: Duration?

        /// Whether the last batch was of several callers, who probably come together again.
        var areMany = false

        /// Whether a caller may use the batch.
        func mayBeTaken(_ limit: Duration) -> Bool {
            guard let pace, pace < limit else { return false }
            return !isTaken && waiting.isEmpty && !areMany
        }

        mutating func note(_ duration: Duration) { pace = pace.map { ($0 * 7 + duration) / 8 } ?? duration }
    }

    /// What the thread uses that has taken it.
    private final class Batch: @unchecked Sendable {
        var made: (any WriteBatching)?
    }

    private let state = Mutex(State())
    /// The thread sleeps on it while it is idle.
    private let work = ThreadSignal()
    private let end = ThreadSignal()
    private let changes: ChangeSignal
    private let makeBatch: @Sendable () throws(StoreError) -> any WriteBatching
    private let batch = Batch()
    private let callersLimit: Duration
    /// For statistics and tests.
    package let commitCount = Atomic<Int>(0)
    /// Of these, the commits by callers' threads.
    package let callersCommitCount = Atomic<Int>(0)

    /// - Parameter callersLimit: The time that an operation may take, as others have taken lately, if the caller's thread
    ///   is to run it. It is one of the few that all tasks share.
    package init(
        _ changes: ChangeSignal, callersLimit: Duration = .milliseconds(1),
        _ makeBatch: @escaping @Sendable () throws(StoreError) -> any WriteBatching
    ) {
        self.changes = changes
        self.callersLimit = callersLimit
        self.makeBatch = makeBatch
    }

    /// For tests: whether a thread uses the batch.
    var isInUse: Bool { state.withLock { $0.isTaken } }

    /// - Returns: whether this thread has run operations for so long that a task should now let others have it: one that
    ///   makes many changes in a row would keep them from it.
    @discardableResult
    package func submit(_ operation: any WriteOperation) -> Bool {
        enum Outcome { case refused, queued, firstEver, taken }
        let outcome = state.withLock { state -> Outcome in
            if state.isClosing { return .refused }
            if state.mayBeTaken(callersLimit), operation.isShort {
                (state.isTaken, state.caller) = (true, .current)
                return .taken
            }
            state.waiting.append(operation)
            if state.hasThread { return .queued }
            state.hasThread = true
            return .firstEver
        }
        switch outcome {
        case .refused: operation.finish(.closed)
        case .queued: work.send()
        case .firstEver:
            work.send()
            start()
        case .taken: return performOnCallersThread(operation)
        }
        return false
    }

    private func performOnCallersThread(_ operation: any WriteOperation) -> Bool {
        let start = SuspendingClock.now
        let isDone =
            batch.made?.performAtOnce(operation) { dueFrom in
                callersCommitCount.add(1, ordering: .relaxed)
                noteCommit(dueFrom)
            } ?? false
        let (isWanted, mustGiveWay) = state.withLock { state in
            (state.isTaken, state.caller) = (false, nil)
            let now = SuspendingClock.now
            if isDone { state.note(start.duration(to: now)) } else { state.waiting.insert(operation, at: 0) }
            let mustGiveWay = isDone && state.gaveWayAt.duration(to: now) > Self.longestRun
            if mustGiveWay { state.gaveWayAt = now }
            return (state.isClosing || !state.waiting.isEmpty, mustGiveWay)
        }
        if isWanted { work.send() }
        return mustGiveWay
    }

    /// Lets all submitted operations finish, ends the thread, and then runs `ending`, but only once however often it is
    /// called.
    ///
    /// Returns when all of this is done. On a thread that runs an operation, where the last reference to a vault may be
    /// released, it does not wait: the writer's thread then ends by itself.
    package func close(_ ending: @escaping @Sendable () -> Void = {}) {
        enum Outcome { case alone, first, later }
        let (outcome, isOwnThread) = state.withLock { state -> (Outcome, Bool) in
            let isOwnThread = state.thread == .current || state.caller == .current
            if state.isClosing { return (.later, isOwnThread) }
            state.isClosing = true
            guard state.hasThread else { return (.alone, false) }
            state.ending = ending
            return (.first, isOwnThread)
        }
        switch outcome {
        case .alone:
            ending()
            end.send()
        case .first: work.send()
        case .later: break
        }
        guard !isOwnThread, outcome != .alone else { return }
        end.wait()
        // Wakes the next waiter.
        end.send()
    }

    private func start() {
        guard !OwnThread.start({ self.run() }) else { return }
        let (waiting, ending) = state.withLock { state in
            defer { (state.waiting, state.ending) = ([], nil) }
            state.hasThread = false
            return (state.waiting, state.ending)
        }
        for operation in waiting { operation.finish(StoreError(.outOfMemory, "the writer thread could not start")) }
        guard let ending else { return }
        ending()
        end.send()
    }

    private func run() {
        state.withLock { $0.thread = .current }
        while true {
            work.wait()
            let (operations, isClosing) = take()
            if !operations.isEmpty { perform(operations) }
            if isClosing && operations.isEmpty { break }
            if isClosing { work.send() }
        }
        batch.made?.close()
        batch.made = nil
        let ending = state.withLock { state in
            defer { state.ending = nil }
            return state.ending
        }
        ending?()
        end.send()
    }

    private func take() -> ([any WriteOperation], Bool) {
        state.withLock { state in
            // The caller that has the batch wakes this thread when it gives it back.
            if state.isTaken { return ([], false) }
            state.isTaken = !state.waiting.isEmpty
            if state.isTaken { state.areMany = state.waiting.count > 1 }
            if state.waiting.count <= Self.batchLimit {
                defer { state.waiting = [] }
                return (state.waiting, state.isClosing)
            }
            let taken = Array(state.waiting.prefix(Self.batchLimit))
            state.waiting.removeFirst(Self.batchLimit)
            work.send()
            return (taken, state.isClosing)
        }
    }

    private func perform(_ operations: [any WriteOperation]) {
        let start = SuspendingClock.now
        do throws(StoreError) {
            let current = if let made = batch.made { made } else { try makeBatch() }
            batch.made = current
            current.perform(operations, committed: noteCommit)
        } catch {
            for operation in operations { operation.finish(error) }
        }
        state.withLock { state in
            state.isTaken = false
            if operations.count == 1 { state.note(start.duration(to: .now)) }
        }
    }

    private func noteCommit(_ dueFrom: Timestamp) {
        commitCount.add(1, ordering: .relaxed)
        changes.fire(dueFrom: dueFrom)
    }
}
