import Platform
package import Synchronization

/// Runs operations on an engine's connection for writing, several of them in one transaction. One thread uses it.
package protocol WriteBatching: AnyObject {
    /// Runs and finishes all operations.
    ///
    /// - Parameter committed: Called after each commit, before the waiting callers continue. Reactions of this
    ///   process's observers have begun by then. See ``WriteTransaction/dueFrom``.
    func perform(_ operations: [any WriteOperation], committed: (_ dueFrom: Timestamp) -> Void)

    /// Closes the connection when nothing more will be written.
    func close()
}

/// The process's only writer of a vault, on a separate thread.
///
/// It takes all waiting operations, lets the engine commit them together, and notifies the callers. If no other
/// operation is waiting, one is committed at once.
package final class WriterThread: Sendable {
    /// More operations than ever wait at once in normal use. It bounds the memory of one transaction.
    package static let batchLimit = 256

    private struct State {
        var waiting: [any WriteOperation] = []
        var isClosing = false
        var hasThread = false
        /// The thread itself, while it runs.
        var thread: ThreadID?
        /// The action after the last operation.
        var ending: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// The thread sleeps on it while it is idle.
    private let work = ThreadSignal()
    private let end = ThreadSignal()
    private let changes: ChangeSignal
    private let makeBatch: @Sendable () throws(StoreError) -> any WriteBatching
    /// For statistics and tests.
    package let commitCount = Atomic<Int>(0)

    package init(
        _ changes: ChangeSignal, _ makeBatch: @escaping @Sendable () throws(StoreError) -> any WriteBatching
    ) {
        self.changes = changes
        self.makeBatch = makeBatch
    }

    package func submit(_ operation: any WriteOperation) {
        enum Outcome { case refused, queued, firstEver }
        let outcome = state.withLock { state -> Outcome in
            if state.isClosing { return .refused }
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
        }
    }

    /// Lets all submitted operations finish, ends the thread, and then runs `ending`, but only once however often it is
    /// called.
    ///
    /// Returns when all of this is done. On the writer's own thread, where the last reference to a vault may be
    /// released, it does not wait: the thread then ends by itself.
    package func close(_ ending: @escaping @Sendable () -> Void = {}) {
        enum Outcome { case alone, first, later }
        let (outcome, isOwnThread) = state.withLock { state -> (Outcome, Bool) in
            let isOwnThread = state.thread == .current
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
        var batch: (any WriteBatching)?
        state.withLock { $0.thread = .current }
        while true {
            work.wait()
            let (operations, isClosing) = take()
            if !operations.isEmpty { perform(operations, with: &batch) }
            if isClosing && operations.isEmpty { break }
            if isClosing { work.send() }
        }
        batch?.close()
        batch = nil
        let ending = state.withLock { state in
            defer { state.ending = nil }
            return state.ending
        }
        ending?()
        end.send()
    }

    private func take() -> ([any WriteOperation], Bool) {
        state.withLock { state in
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

    private func perform(_ operations: [any WriteOperation], with batch: inout (any WriteBatching)?) {
        do throws(StoreError) {
            let current = if let batch { batch } else { try makeBatch() }
            batch = current
            current.perform(operations) { dueFrom in
                commitCount.add(1, ordering: .relaxed)
                changes.fire(dueFrom: dueFrom)
            }
        } catch {
            for operation in operations { operation.finish(error) }
        }
    }
}
