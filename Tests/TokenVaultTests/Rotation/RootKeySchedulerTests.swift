import EngineSupport
import Synchronization
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultStorage

@Suite(.tags(.everyEngine)) struct RootKeySchedulerTests {
    private static let day = Duration.seconds(86_400)

    private static func scheduler(
        _ world: World, _ onEvent: (@Sendable (RootKeySchedule.Event) -> Void)? = nil
    ) -> RootKeyScheduler {
        RootKeyScheduler(world.vault, options: RootKeySchedule(every: day * 30, onEvent: onEvent))
    }

    @Test func theKeyIsReplacedWhenItIsOldEnough() async throws {
        let world = try await World()
        let scheduler = Self.scheduler(world)
        var root = world.vault.store.context.primaryRoot
        #expect(try await scheduler.runOnce() == nil)
        for _ in 0..<2 {
            world.time.advance(by: Self.day * 29)
            #expect(try await scheduler.runOnce() == nil)
            world.time.advance(by: Self.day)
            let report = try #require(try await scheduler.runOnce())
            #expect(report.isComplete && !report.isResumed)
            // Another process looks at the same vault.
            #expect(try await Self.scheduler(world).runOnce() == nil)
            #expect(world.vault.store.context.primaryRoot != root)
            root = world.vault.store.context.primaryRoot
        }
    }

    @Test func aRotationThatWasBrokenOffIsCompletedAtOnce() async throws {
        let world = try await World()
        _ = try await world.vault.store.write { try $0.beginRootRotation() }
        #expect(try await world.vault.rootKeyStatus().isRotating)
        let report = try #require(try await Self.scheduler(world).runOnce())
        #expect(report.isComplete && report.isResumed)
        #expect(try await !world.vault.rootKeyStatus().isRotating)
    }

    @Test func asAServiceItTurnsUntilItIsStopped() async throws {
        let world = try await World()
        let count = Mutex(0)
        let scheduler = Self.scheduler(world) { event in
            guard case .rotated(let report) = event, report.isComplete else { return }
            count.withLock { $0 += 1 }
        }
        let running = Task { try await scheduler.run() }
        while count.withLock({ $0 }) < 2 {
            world.time.advance(by: Self.day)
            await Task.yield()
        }
        running.cancel()
        try await running.value
    }

    @Test func noIntervalIsShorterThanADay() {
        #expect(RootKeySchedule(every: .zero).interval == Self.day)
    }
}
