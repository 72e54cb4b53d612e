import Glibc
import Synchronization

/// The process's one writer of a vault, on a thread of its own.
///
/// It takes whatever is waiting, runs each operation in a savepoint, commits once, and then tells the callers. With
/// nobody else waiting an operation is committed at once.
final class WriterThread: Sendable {
    /// More than ever wait at once in sane use; it bounds what one transaction holds in memory.
    static let batchLimit = 256

    private struct State {
        var waiting: [WriteOperation] = []
        var isClosing = false
        var hasThread = false
    }

    /// A POSIX semaphore: the thread sleeps on it while there is nothing to do.
    @safe private struct Signal: @unchecked Sendable {
        let semaphore: UnsafeMutablePointer<sem_t>

        init() {
            unsafe semaphore = .allocate(capacity: 1)
            unsafe sem_init(semaphore, 0, 0)
        }

        func send() { unsafe sem_post(semaphore) }

        func wait() {
            while unsafe sem_wait(semaphore) != 0 && errno == EINTR {}
        }

        func destroy() {
            unsafe sem_destroy(semaphore)
            unsafe semaphore.deallocate()
        }
    }

    private let state = Mutex(State())
    private let work = Signal()
    private let end = Signal()
    private let changes: ChangeSignal
    private let makeBatch: @Sendable () throws(StoreError) -> WriteBatch
    /// For statistics and tests.
    let commitCount = Atomic<Int>(0)

    init(_ changes: ChangeSignal, _ makeBatch: @escaping @Sendable () throws(StoreError) -> WriteBatch) {
        self.changes = changes
        self.makeBatch = makeBatch
    }

    deinit {
        work.destroy()
        end.destroy()
    }

    func submit(_ operation: WriteOperation) {
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

    /// Returns when everything that was submitted is finished and the thread has ended.
    func close() {
        let hasThread = state.withLock { state in
            let mustWait = state.hasThread && !state.isClosing
            state.isClosing = true
            return mustWait
        }
        guard hasThread else { return }
        work.send()
        end.wait()
    }

    private func start() {
        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(self)
        let status = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<WriterThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        if status == 0 {
            pthread_detach(thread)
            return
        }
        unsafe argument.release()
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.hasThread = false
            return state.waiting
        }
        for operation in waiting { operation.finish(StoreError(.outOfMemory, "no thread can be made for writing")) }
    }

    private func run() {
        var batch: WriteBatch?
        while true {
            work.wait()
            let (operations, isClosing) = take()
            if !operations.isEmpty { perform(operations, with: &batch) }
            if isClosing && operations.isEmpty { break }
            if isClosing { work.send() }
        }
        batch?.close()
        batch = nil
        end.send()
    }

    private func take() -> ([WriteOperation], Bool) {
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

    private func perform(_ operations: [WriteOperation], with batch: inout WriteBatch?) {
        do throws(StoreError) {
            let current = if let batch { batch } else { try makeBatch() }
            batch = current
            commitCount.add(current.perform(operations), ordering: .relaxed)
            changes.fire()
        } catch {
            for operation in operations { operation.finish(error) }
        }
    }
}
