import Foundation
import Synchronization
import TestSupport
import Testing

@testable import VaultSQLite
@testable import VaultStorage

/// Threads of their own for work that blocks.
@Suite struct BlockingLaneTests {
    @Test func workRunsOnOtherThreadsUpToTheLanesLimit() async throws {
        let lane = BlockingLane(threads: 3)
        let running = Gauge()
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<30 {
                group.addTask {
                    try await lane.run {
                        running.enter()
                        usleep(2_000)
                        running.leave()
                        return number
                    }
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(results.count == 30)
        #expect((1...3).contains(running.most), "\(running.most) at a time")
    }

    @Test func anErrorIsPassedOn() async throws {
        await #expect(throws: StoreError.closed) { try await BlockingLane(threads: 1).run { throw StoreError.closed } }
    }

    @Test func withoutAThreadThereIsAnErrorAndNoWaiting() async throws {
        let lane = BlockingLane(threads: 2) { _ in false }
        for _ in 0..<5 {
            let error = await #expect(throws: StoreError.self) { try await lane.run { 1 } }
            #expect(error?.code == .outOfMemory)
        }
        // What must be done is done all the same.
        let isDone = Flag()
        let closing = BlockingLane(threads: 1) { _ in false }
        await closing.complete { isDone.set() }
        #expect(isDone.isSet)
    }

    @Test func workThatHasNotBegunIsWithdrawn() async throws {
        let lane = BlockingLane(threads: 1)
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            try await lane.run {
                begun.signal()
                gate.wait()
                return BlockingWork.isCancelled
            }
        }
        await Task.detached { _ = Self.wait(begun) }.value
        let hasRun = Flag()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: CancellationError.self) {
                    try await lane.run { hasRun.set() }
                }
            }
            group.cancelAll()
        }
        #expect(!hasRun.isSet)
        gate.signal()
        #expect(try await first.value == false)
    }

    @Test func runningWorkSeesItsCancellation() async throws {
        let lane = BlockingLane(threads: 1)
        let begun = DispatchSemaphore(value: 0)
        let task = Task {
            try await lane.run {
                begun.signal()
                while !BlockingWork.isCancelled { usleep(200) }
                throw StoreError.closed
            }
        }
        await Task.detached { _ = Self.wait(begun) }.value
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!BlockingWork.isCancelled)
    }

    private static func wait(_ semaphore: DispatchSemaphore) -> DispatchTimeoutResult {
        semaphore.wait(timeout: .now() + 60)
    }

    @Test func aCheckEndsWhenItIsCancelled() async throws {
        let vault = try await PopulatedVault()
        let store = try vault.fixture.open()
        let steps = Gauge()
        let begun = DispatchSemaphore(value: 0)
        let task = Task {
            try await store.verify { _ in
                steps.enter()
                begun.signal()
                while !BlockingWork.isCancelled { usleep(200) }
            }
        }
        await Task.detached { _ = Self.wait(begun) }.value
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(steps.most == 1)
        store.close()
    }

    /// How many are in, and how many were at once.
    private final class Gauge: Sendable {
        private let state = Mutex((now: 0, most: 0))

        var most: Int { state.withLock { $0.most } }

        func enter() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func leave() { state.withLock { $0.now -= 1 } }
    }
}
