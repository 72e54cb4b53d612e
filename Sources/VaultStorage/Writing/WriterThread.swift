import Platform
package import Synchronization

/// Runs operations on an engine's connection for writing, several of them in one transaction. Used by one thread.
package protocol WriteBatching: AnyObject {
    /// Runs and finishes all operations.
    ///
    /// - Parameter committed: Called after each commit, before those who waited for it go on: what observers of this
    ///   process begin because of it has begun then. See ``WriteTransaction/dueFrom``.
    func perform(_ operations: [any WriteOperation], committed: (_ dueFrom: Timestamp) -> Void)

    /// What is to be done once nothing more will be written.
    func close()
}

/// The process's one writer of a vault, on a thread of its own.
///
/// It takes whatever is waiting, lets the engine commit it at once, and tells the callers. With nobody else waiting an
/// operation is committed at once.
package final class WriterThread: Sendable {
    /// More than ever wait at once in sane use; it bounds what one transaction holds in memory.
    package static let batchLimit = 256

    private struct State {
        var waiting: [any WriteOperation] = []
        var isClosing = false
        var hasThread = false
        /// The thread itself, once it runs.
        var thread: ThreadID?
        /// What is to be done when the last operation is over.
        var ending: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// The thread sleeps on it while there is nothing to do.
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

    /// Lets everything that was submitted finish, then ends the thread, and runs `ending` last of all; once, however
    /// often it is closed.
    ///
    /// Returns when all of this is done. Only on the writer's own thread, where the last reference to a vault may be
    /// released, it does not wait: the thread comes to its end by itself.
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
        // For the next one who waits.
        end.send()
    }

    private func start() {
        guard !OwnThread.start({ self.run() }) else { return }
        let (waiting, ending) = state.withLock { state in
            defer { (state.waiting, state.ending) = ([], nil) }
            state.hasThread = false
            return (state.waiting, state.ending)
        }
        for operation in waiting { operation.finish(StoreError(.outOfMemory, "no thread can be made for writing")) }
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
