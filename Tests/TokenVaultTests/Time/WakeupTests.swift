import Testing
import TokenVaultTesting

@testable import TokenVault

struct WakeupTests {
    @Test func aSignalThatCameBeforeEndsTheNextWaitOnly() async {
        let wakeup = Wakeup()
        let time = ManualTimeSource()
        wakeup.signal()
        wakeup.signal()
        await wakeup.wait(for: .seconds(10), time)
        let second = Task { await wakeup.wait(for: .seconds(10), time) }
        await time.waitForSleepers()
        #expect(wakeup.isWaiting)
        time.advance(by: .seconds(10))
        await second.value
        #expect(!wakeup.isWaiting)
    }

    @Test func aSignalEndsTheWaitUnderWay() async {
        let wakeup = Wakeup()
        let time = ManualTimeSource()
        let waiter = Task { await wakeup.wait(for: .seconds(10), time) }
        await time.waitForSleepers()
        wakeup.signal()
        await waiter.value
        // The alarm of that wait is void.
        time.advance(by: .seconds(20))
        let next = Task { await wakeup.wait(for: .seconds(10), time) }
        await time.waitForSleepers()
        #expect(wakeup.isWaiting)
        wakeup.stop()
        await next.value
    }

    @Test func onceStoppedNothingIsWaitedFor() async {
        let wakeup = Wakeup()
        wakeup.stop()
        #expect(wakeup.isStopped)
        await wakeup.wait(for: .seconds(10), ManualTimeSource())
        await wakeup.wait(for: .seconds(10), ManualTimeSource())
    }
}
