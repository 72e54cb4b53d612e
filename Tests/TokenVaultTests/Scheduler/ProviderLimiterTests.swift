import Synchronization
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

struct ProviderLimiterTests {
    private let provider = ProviderHandle.random()

    @Test(arguments: [1, 2, 3, 10, 30, 60, 300, 6_000])
    func noMinuteHasMoreThanTheLimit(limit: Int) {
        var bucket = TokenBucket(requestsPerMinute: limit, now: .zero)
        var taken: [Int] = []
        // A quarter of an hour, by tenths of a second, with pauses in between that fill the bucket.
        for tick in 0..<9_000 where tick % 2_000 < 1_500 {
            while bucket.take(now: .milliseconds(tick * 100), isBackground: tick.isMultiple(of: 3)) {
                taken.append(tick)
            }
        }
        var start = 0
        for (index, tick) in taken.enumerated() {
            while taken[start] + 600 <= tick { start += 1 }
            #expect(index - start < limit)
        }
        #expect(taken.count >= limit * 4 || limit < 3)
    }

    @Test func theSchedulerLeavesSomethingForCallers() {
        var bucket = TokenBucket(requestsPerMinute: 60, now: .zero)
        var background = 0
        while bucket.take(now: .zero, isBackground: true) { background += 1 }
        var callers = 0
        while bucket.take(now: .zero, isBackground: false) { callers += 1 }
        #expect((background, callers) == (9, 3))
        let wait = bucket.wait(now: .zero, isBackground: false)
        let longerWait = bucket.wait(now: .zero, isBackground: true)
        #expect(wait < longerWait)
        let isTaken = bucket.take(now: wait, isBackground: false)
        #expect(isTaken)
    }

    private final class Order: Sendable {
        private let state = Mutex<[String]>([])
        var names: [String] { state.withLock { $0 } }
        func add(_ name: String) { state.withLock { $0.append(name) } }
    }

    @Test func callersGoBeforeTheScheduler() async {
        let limiter = ProviderLimiter(timeSource: ManualTimeSource())
        let limits = ProviderLimiter.Limits(concurrent: 1)
        await limiter.begin(limiter.newID(), provider, limits, .caller)
        let order = Order()
        await withTaskGroup(of: Void.self) { group in
            for (name, priority) in [("b1", ProviderLimiter.Priority.background), ("b2", .background), ("c1", .caller)]
            {
                let waiting = limiter.waitingCount(provider)
                group.addTask { [provider] in
                    await limiter.begin(limiter.newID(), provider, limits, priority)
                    order.add(name)
                    limiter.end(provider)
                }
                while limiter.waitingCount(provider) == waiting, !Task.isCancelled { await Task.yield() }
            }
            limiter.end(provider)
        }
        #expect(order.names == ["c1", "b1", "b2"])
    }

    @Test func workThatACallerJoinsGoesAsHis() async {
        let limiter = ProviderLimiter(timeSource: ManualTimeSource())
        let limits = ProviderLimiter.Limits(concurrent: 1)
        await limiter.begin(limiter.newID(), provider, limits, .caller)
        let order = Order()
        let first = RateLimitPermit(limiter)
        let second = RateLimitPermit(limiter)
        await withTaskGroup(of: Void.self) { group in
            for (name, turn) in [("first", first), ("second", second)] {
                let waiting = limiter.waitingCount(provider)
                group.addTask { [provider] in
                    await turn.begin(provider, limits, .background)
                    order.add(name)
                    turn.end()
                }
                while limiter.waitingCount(provider) == waiting, !Task.isCancelled { await Task.yield() }
            }
            second.promote()
            limiter.end(provider)
        }
        #expect(order.names == ["second", "first"])
    }

    @Test func whoWaitsForTheRateGoesOnWhenTimeHasPassed() async {
        let time = ManualTimeSource()
        let limiter = ProviderLimiter(timeSource: time)
        let limits = ProviderLimiter.Limits(perMinute: 1)
        await limiter.begin(limiter.newID(), provider, limits, .caller)
        limiter.end(provider)
        let next = Task { _ = await limiter.begin(limiter.newID(), provider, limits, .caller) }
        await time.waitForSleepers()
        #expect(limiter.waitingCount(provider) == 1)
        time.advance(by: .seconds(60))
        await next.value
        // Nothing was sent: the next one may go at once.
        limiter.end(provider, isUnused: true)
        await limiter.begin(limiter.newID(), provider, limits, .caller)
    }

    /// The scheduler leaves a part of the rate to callers, so it waits for longer than they do.
    @Test func aCallerDoesNotWaitForWhatTheSchedulerWaitsFor() async {
        let time = ManualTimeSource()
        let limiter = ProviderLimiter(timeSource: time)
        let limits = ProviderLimiter.Limits(perMinute: 60)
        for _ in 0..<12 { await limiter.begin(limiter.newID(), provider, limits, .caller) }
        let background = Task { await limiter.begin(limiter.newID(), provider, limits, .background) }
        while limiter.waitingCount(provider) < 1, !Task.isCancelled { await Task.yield() }
        let caller = Task { await limiter.begin(limiter.newID(), provider, limits, .caller) }
        while limiter.waitingCount(provider) < 2, !Task.isCancelled { await Task.yield() }
        await time.waitForSleepers(2)
        time.advance(by: .seconds(2))
        #expect(await caller.value)
        #expect(limiter.waitingCount(provider) == 1)
        await time.waitForRest()
        time.advance(by: .seconds(6))
        #expect(await background.value)
    }

    @Test func aCallerWhoJoinsWhileThePlaceIsTakenIsNotOverlooked() async {
        let limiter = ProviderLimiter(timeSource: ManualTimeSource())
        let limits = ProviderLimiter.Limits(concurrent: 1)
        for _ in 0..<100 {
            await limiter.begin(limiter.newID(), provider, limits, .caller)
            let order = Order()
            let (other, promoted) = (RateLimitPermit(limiter), RateLimitPermit(limiter))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [provider] in
                    await other.begin(provider, limits, .background)
                    order.add("other")
                    other.end()
                }
                while limiter.waitingCount(provider) == 0, !Task.isCancelled { await Task.yield() }
                group.addTask { [provider] in
                    await promoted.begin(provider, limits, .background)
                    order.add("promoted")
                    promoted.end()
                }
                group.addTask { promoted.promote() }
                while limiter.waitingCount(provider) < 2, !Task.isCancelled { await Task.yield() }
                // The first promotion may still be under way. This one does not return before it has taken effect.
                promoted.promote()
                limiter.end(provider)
            }
            #expect(order.names == ["promoted", "other"])
        }
    }

    @Test func atTheEndNobodyWaitsAnyMore() async {
        let limiter = ProviderLimiter(timeSource: ManualTimeSource())
        let limits = ProviderLimiter.Limits(concurrent: 1)
        await limiter.begin(limiter.newID(), provider, limits, .caller)
        let waiting = [ProviderLimiter.Priority.caller, .background].map { priority in
            Task { await limiter.begin(limiter.newID(), provider, limits, priority) }
        }
        while limiter.waitingCount(provider) < 2, !Task.isCancelled { await Task.yield() }
        limiter.close()
        for task in waiting { #expect(await !task.value) }
        #expect(await !limiter.begin(limiter.newID(), provider, limits, .caller))
        limiter.end(provider)
        #expect(limiter.waitingCount(provider) == 0)
    }
}
