import Synchronization
import Testing
import TokenVaultTesting

@testable import TokenVault

struct FlightTests {
    @Test func everyWaiterGetsTheEnd() async {
        let flight = Flight()
        await withTaskGroup(of: Flight.Wait.self) { group in
            for _ in 0..<100 {
                let id = flight.join()
                group.addTask { await flight.wait(as: id, deadline: nil, timeSource: SystemTimeSource()) }
            }
            flight.end(.renewed)
            for await wait in group { #expect(wait == .ended(.renewed)) }
        }
    }

    @Test func aCancelledWaiterLeavesTheOthersWaiting() async {
        let flight = Flight()
        let (first, second) = (flight.join(), flight.join())
        let cancelled = Task { await flight.wait(as: first, deadline: nil, timeSource: SystemTimeSource()) }
        let patient = Task { await flight.wait(as: second, deadline: nil, timeSource: SystemTimeSource()) }
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        flight.end(.renewed)
        #expect(await patient.value == .ended(.renewed))
    }

    @Test func aDeadlineEndsTheWaitOnly() async {
        let flight = Flight()
        let time = ManualTimeSource()
        let id = flight.join()
        let waiter = Task { await flight.wait(as: id, deadline: .seconds(2), timeSource: time) }
        await time.waitForSleepers()
        time.advance(by: .seconds(2))
        #expect(await waiter.value == .deadlinePassed)
    }

    @Test func aDeadlineThatHasPassedEndsTheWaitAtOnce() async {
        let flight = Flight()
        let wait = await flight.wait(as: flight.join(), deadline: .zero, timeSource: SystemTimeSource())
        #expect(wait == .deadlinePassed)
    }

    @Test func workIsAbandonedWhenTheLastCallerIsCancelled() async {
        let flight = Flight()
        let abandoned = Mutex(0)
        flight.onAbandon { abandoned.withLock { $0 += 1 } }
        let ids = [flight.join(), flight.join()]
        let waiters = ids.map { id in
            Task { await flight.wait(as: id, deadline: nil, timeSource: SystemTimeSource()) }
        }
        waiters[0].cancel()
        _ = await waiters[0].value
        #expect(abandoned.withLock { $0 } == 0)
        waiters[1].cancel()
        _ = await waiters[1].value
        #expect(abandoned.withLock { $0 } == 1)
    }
}
