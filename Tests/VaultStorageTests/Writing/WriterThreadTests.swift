import Foundation
import Platform
import Synchronization
import TestSupport
import Testing

@testable import VaultSQLite
@testable import VaultStorage

/// Which thread runs an operation, and that no two of them use an engine's connection at once.
struct WriterThreadTests {
    /// No disk is as slow as this, and none as fast as the other.
    private static let always = Duration.seconds(1 << 40)
    private static let never = Duration.zero

    private final class Operation: WriteOperation {
        let isShort: Bool
        let comesAfterCommit = false
        let ended = Signal()
        private let body: @Sendable () -> Void
        private let state = Mutex<(thread: ThreadID?, finished: Int, failure: StoreError?)>((nil, 0, nil))

        init(isShort: Bool = true, _ body: @escaping @Sendable () -> Void = {}) {
            self.isShort = isShort
            self.body = body
        }

        func run(_ transaction: WriteTransaction) { run() }

        func run() {
            state.withLock { $0.thread = .current }
            body()
        }

        func finish(_ failure: StoreError?) {
            state.withLock { ($0.finished, $0.failure) = ($0.finished + 1, failure) }
            ended.send()
        }

        var thread: ThreadID? { state.withLock { $0.thread } }
        var finished: Int { state.withLock { $0.finished } }
        var failure: StoreError? { state.withLock { $0.failure } }
    }

    private final class Batch: WriteBatching, Sendable {
        let runs = Atomic(0)
        let overlaps = Atomic(0)
        let refusals = Atomic(0)
        let isClosed = Flag()
        private let isInUse = Atomic(false)

        func perform(_ operations: [any WriteOperation], committed: (Timestamp) -> Void) {
            use {
                for operation in operations { run(operation, committed) }
            }
        }

        func performAtOnce(_ operation: any WriteOperation, committed: (Timestamp) -> Void) -> Bool {
            if refusals.load(ordering: .relaxed) > 0 {
                refusals.subtract(1, ordering: .relaxed)
                return false
            }
            use { run(operation, committed) }
            return true
        }

        func close() { isClosed.set() }

        private func run(_ operation: any WriteOperation, _ committed: (Timestamp) -> Void) {
            (operation as? Operation)?.run()
            runs.add(1, ordering: .relaxed)
            committed(.earliest)
            operation.finish(nil)
        }

        private func use(_ body: () -> Void) {
            if isInUse.exchange(true, ordering: .sequentiallyConsistent) { overlaps.add(1, ordering: .relaxed) }
            body()
            isInUse.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// A thread waits on it.
    private final class Signal: Sendable {
        private let signal = ThreadSignal()
        func send() { signal.send() }
        func wait() { signal.wait() }
    }

    /// A writer that has run an operation, so that it knows how long one takes.
    private static func begun(_ limit: Duration) -> (WriterThread, Batch) {
        let batch = Batch()
        let writer = WriterThread(ChangeSignal(), callersLimit: limit) { batch }
        let first = Operation()
        writer.submit(first)
        first.ended.wait()
        #expect(first.thread != .current)
        // The writer notes its time after that.
        while writer.isInUse { CurrentThread.pause(microseconds: 100) }
        return (writer, batch)
    }

    /// Runs on a thread of its own, as whatever a test waits for must.
    private static func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    @Test func aShortOperationIsRunByItsCallerOnAFastDisk() async {
        await Self.onThread {
            let (writer, _) = Self.begun(Self.always)
            let (short, long) = (Operation(), Operation(isShort: false))
            writer.submit(short)
            #expect(short.finished == 1)
            #expect(short.thread == .current)
            writer.submit(long)
            long.ended.wait()
            #expect(long.thread != .current)
            #expect(writer.commitCount.load(ordering: .relaxed) == 3)
            #expect(writer.callersCommitCount.load(ordering: .relaxed) == 1)
            writer.close()
        }
    }

    @Test func onASlowDiskTheWritersThreadRunsIt() async {
        await Self.onThread {
            let (writer, _) = Self.begun(Self.never)
            let operation = Operation()
            writer.submit(operation)
            operation.ended.wait()
            #expect(operation.thread != .current)
            writer.close()
        }
    }

    @Test func whatWouldWaitIsRunByTheWritersThread() async {
        await Self.onThread {
            let (writer, batch) = Self.begun(Self.always)
            batch.refusals.store(1, ordering: .relaxed)
            let operation = Operation()
            writer.submit(operation)
            operation.ended.wait()
            #expect(operation.thread != .current)
            #expect(operation.finished == 1)
            writer.close()
        }
    }

    @Test func whoComesMeanwhileWaits() async {
        await Self.onThread {
            let (writer, batch) = Self.begun(Self.always)
            let (isRunning, mayEnd) = (Signal(), Signal())
            let first = Operation {
                isRunning.send()
                mayEnd.wait()
            }
            Thread.detachNewThread { writer.submit(first) }
            isRunning.wait()
            let others = (0..<3).map { _ in Operation() }
            for other in others { writer.submit(other) }
            #expect(others.allSatisfy { $0.finished == 0 })
            mayEnd.send()
            for operation in [first] + others { operation.ended.wait() }
            #expect(others.allSatisfy { $0.thread != .current && $0.thread != first.thread })
            #expect(batch.overlaps.load(ordering: .relaxed) == 0)
            writer.close()
        }
    }

    @Test func anOperationMayCloseItsOwnWriter() async {
        await Self.onThread {
            let (writer, batch) = Self.begun(Self.always)
            let ended = Signal()
            let operation = Operation { writer.close { ended.send() } }
            writer.submit(operation)
            #expect(operation.thread == .current)
            ended.wait()
            #expect(batch.isClosed.isSet)
            let late = Operation()
            writer.submit(late)
            #expect(late.failure == .closed)
        }
    }

    @Test func closingWaitsForACallersOperation() async {
        await Self.onThread {
            let (writer, batch) = Self.begun(Self.always)
            let (isRunning, isClosing) = (Signal(), Signal())
            let operation = Operation {
                isRunning.send()
                isClosing.wait()
                // A close that does not wait would be over by then.
                CurrentThread.pause(microseconds: 20_000)
                #expect(!batch.isClosed.isSet)
            }
            Thread.detachNewThread { writer.submit(operation) }
            isRunning.wait()
            isClosing.send()
            writer.close()
            #expect(operation.finished == 1)
            #expect(batch.isClosed.isSet)
        }
    }

    @Test func manyCallersNeverUseABatchAtOnce() async {
        let count = Depth.pick(brief: 2_000, nightly: 20_000, deep: 100_000)
        let (writer, batch) = Self.begun(Self.always)
        let operations = await withTaskGroup(of: [Operation].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let mine = (0..<count).map { _ in Operation(isShort: Int.random(in: 0..<4) > 0) }
                    await Self.onThread {
                        for operation in mine {
                            if Int.random(in: 0..<16) == 0 { batch.refusals.add(1, ordering: .relaxed) }
                            writer.submit(operation)
                            if Bool.random() { operation.ended.wait() }
                        }
                    }
                    return mine
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        await Self.onThread { writer.close() }
        let byCallers = writer.callersCommitCount.load(ordering: .relaxed)
        print("writer: \(operations.count) operations of 8 threads, \(byCallers) of them run by their callers")
        #expect(operations.allSatisfy { $0.finished == 1 && $0.failure == nil })
        #expect(batch.runs.load(ordering: .relaxed) == operations.count + 1)
        #expect(batch.overlaps.load(ordering: .relaxed) == 0)
        #expect(byCallers > 0)
    }

    // MARK: With SQLite

    @Test func aWriteLockOfAnotherProcessIsNotWaitedFor() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        defer { store.close() }
        let batch = WriteBatch(store.database, store.context, store.place)
        let (before, beside, after) = (Operation(), Operation(), Operation())
        // There is no connection yet.
        #expect(!batch.performAtOnce(before) { _ in })
        batch.perform([before]) { _ in }
        #expect(before.finished == 1)
        let other = try RawConnection(fixture.path)
        try other.execute("BEGIN IMMEDIATE")
        #expect(!batch.performAtOnce(beside) { _ in })
        #expect(beside.thread == nil && beside.finished == 0)
        try other.execute("ROLLBACK")
        #expect(batch.performAtOnce(after) { _ in })
        #expect(after.finished == 1 && after.failure == nil)
        batch.close()
    }

    @Test func aConnectionWaitsForALockOnlyIfItMay() throws {
        let fixture = try VaultFixture()
        try fixture.create().close()
        let connection = try Connection(path: fixture.path)
        try connection.configure()
        var within: Int64?
        try connection.withoutWaiting { () throws(StoreError) in
            within = try connection.integer("PRAGMA busy_timeout")
        }
        #expect(within == 0)
        #expect(try connection.integer("PRAGMA busy_timeout") == Int64(Connection.busyTimeout))
    }
}
