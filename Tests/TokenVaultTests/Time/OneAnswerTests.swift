import FoundationEssentials
import Synchronization
import Testing
import TokenVaultTesting

@testable import TokenVault

/// The one wait that all others are made of.
struct OneAnswerTests {
    @Test func anAnswerThatIsThereIsNotWaitedFor() async {
        let answer = OneAnswer<Int>()
        #expect(answer.give(1))
        #expect(await answer.value() == 1)
        #expect(!answer.isOpen)
    }

    @Test func theFirstAnswerCounts() async {
        let answer = OneAnswer<Int>()
        #expect(answer.give(1))
        #expect(!answer.give(2))
        #expect(await answer.value() == 1)
        #expect(!answer.give(3))
    }

    @Test func anAnswerWakesTheOneThatWaits() async {
        let answer = OneAnswer<Int>()
        let waiter = Task { await answer.value() }
        await Task.yield()
        answer.give(1)
        #expect(await waiter.value == 1)
    }

    @Test func withoutAnAnswerInTimeThereIsAnother() async {
        let answer = OneAnswer<Int>()
        let time = ManualTimeSource()
        let waiter = Task { await answer.value(within: .seconds(2), time, otherwise: 0) }
        await time.waitForSleepers()
        time.advance(by: .seconds(2))
        #expect(await waiter.value == 0)
        #expect(!answer.give(1))
    }

    @Test func anAnswerInTimeEndsTheAlarm() async {
        let answer = OneAnswer<Int>()
        let time = ManualTimeSource()
        let waiter = Task { await answer.value(within: .seconds(2), time, otherwise: 0) }
        await time.waitForSleepers()
        answer.give(1)
        #expect(await waiter.value == 1)
        time.advance(by: .seconds(3))
        #expect(!answer.isOpen)
    }

    /// A clock that a test moves stands still while a task works, and goes on while it waits.
    @Test func aWaitIsNoWork() async {
        let clock = CountingClock()
        let token = WorkToken(clock)
        let answer = OneAnswer<Void>()
        let waiter = Task { await WorkToken.$current.withValue(token) { await answer.value() } }
        while clock.atWork != 0 { await Task.yield() }
        answer.give(())
        #expect(clock.atWork == 1)
        await waiter.value
        token.end()
        #expect(clock.atWork == 0)
    }
}

private final class CountingClock: WorkClock {
    private let count = Mutex(0)

    var atWork: Int { count.withLock { $0 } }

    func workBegan() { count.withLock { $0 += 1 } }
    func workEnded() { count.withLock { $0 -= 1 } }
    func now() -> Date { Date(timeIntervalSince1970: 0) }
    func sleep(for duration: Duration) async throws {}
}
