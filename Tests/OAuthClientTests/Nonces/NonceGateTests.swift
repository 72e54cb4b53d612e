import OAuthClient
import Synchronization
import Testing

struct NonceGateTests {
    /// Alarms that go off when a test says so.
    private final class Alarms: Sendable {
        private let state = Mutex((last: 0, set: [Int: (after: Duration, action: @Sendable () -> Void)]()))

        var clock: NonceGate.Clock {
            NonceGate.Clock(
                alarm: { after, action in
                    let id = self.state.withLock { state in
                        state.last += 1
                        state.set[state.last] = (after, action)
                        return state.last
                    }
                    return { self.state.withLock { _ = $0.set.removeValue(forKey: id) } }
                }, beginWait: { nil })
        }

        var pending: [Duration] { state.withLock { $0.set.values.map(\.after).sorted() } }

        func fire(_ after: Duration) {
            let due = state.withLock { state in
                let due = state.set.filter { $0.value.after == after }
                for id in due.keys { state.set[id] = nil }
                return due.values.map(\.action)
            }
            for action in due { action() }
        }
    }

    private static let time = Duration.seconds(35)
    private let alarms = Alarms()
    private let gate: NonceGate

    init() {
        gate = NonceGate(clock: alarms.clock)
    }

    /// Begins to wait, and returns when it does.
    private func waiting(_ tries: Int = 1) async -> Task<NonceGate.Pass?, Never> {
        let before = alarms.pending.count { $0 == Self.time }
        let gate = gate
        let task = Task { await gate.enter("a", tries: tries, within: Self.time) }
        while alarms.pending.count(where: { $0 == Self.time }) == before, !Task.isCancelled { await Task.yield() }
        return task
    }

    private var waitingCount: Int { alarms.pending.count { $0 == Self.time } }

    @Test func oneGoesFirstAndSuccessesLetMoreFollow() async throws {
        let first = try #require(await gate.enter("a", tries: 1, within: Self.time))
        #expect(!first.hasWaited)
        let elsewhere = try #require(await gate.enter("b", tries: 1, within: Self.time))
        var others: [Task<NonceGate.Pass?, Never>] = []
        for _ in 0..<5 { others.append(await waiting()) }
        gate.leave(first, isRefused: false)
        let second = try #require(await others[0].value)
        #expect(second.hasWaited)
        #expect(waitingCount == 4)
        // After two in a row, two at a time.
        gate.leave(second, isRefused: false)
        let third = try #require(await others[1].value)
        let fourth = try #require(await others[2].value)
        #expect(waitingCount == 2)
        // A refusal makes the gate narrow again: both must have left first.
        gate.leave(third, isRefused: true)
        #expect(waitingCount == 2)
        gate.leave(fourth, isRefused: false)
        let fifth = try #require(await others[3].value)
        #expect(waitingCount == 1)
        // And it takes longer now.
        gate.leave(fifth, isRefused: false)
        let last = try #require(await others[4].value)
        let next = await waiting()
        gate.leave(last, isRefused: false)
        let alone = try #require(await next.value)
        _ = await waiting()
        #expect(waitingCount == 1)
        gate.leave(alone, isRefused: false)
        gate.leave(elsewhere, isRefused: false)
    }

    @Test func whoWasRefusedTooOftenGoesAlone() async throws {
        let first = try #require(await gate.enter("a", tries: 1, within: Self.time))
        let others = [await waiting(), await waiting()]
        gate.leave(first, isRefused: false)
        gate.leave(try #require(await others[0].value), isRefused: false)
        let inside = try #require(await others[1].value)
        // There is room for one more, but not for this one, nor beside it.
        let beside = try #require(await gate.enter("a", tries: 2, within: Self.time))
        #expect(!beside.hasWaited)
        gate.leave(beside, isRefused: false)
        let unlucky = await waiting(3)
        gate.leave(inside, isRefused: false)
        let alone = try #require(await unlucky.value)
        let other = await waiting()
        #expect(waitingCount == 1)
        gate.leave(alone, isRefused: false)
        #expect(await other.value != nil)
    }

    @Test func whoWasRefusedMoreOftenGoesFirst() async throws {
        let first = try #require(await gate.enter("a", tries: 1, within: Self.time))
        let once = await waiting(1)
        let thrice = await waiting(3)
        gate.leave(first, isRefused: true)
        let next = try #require(await thrice.value)
        #expect(waitingCount == 1)
        gate.leave(next, isRefused: false)
        #expect(await once.value != nil)
    }

    @Test func aSlowOneHoldsUpTheOthersForAMomentOnly() async throws {
        let slow = try #require(await gate.enter("a", tries: 1, within: Self.time))
        let next = await waiting()
        alarms.fire(NonceGate.timeLimit)
        #expect(await next.value != nil)
        // Its end comes late and changes nothing for those inside.
        gate.leave(slow, isRefused: false)
        #expect(alarms.pending == [NonceGate.timeLimit])
    }

    @Test func nobodyWaitsForLongerThanHeWants() async throws {
        let first = try #require(await gate.enter("a", tries: 1, within: Self.time))
        let second = await waiting()
        alarms.fire(Self.time)
        #expect(await second.value == nil)
        gate.leave(first, isRefused: false)
        #expect(alarms.pending.isEmpty)
        #expect(try #require(await gate.enter("a", tries: 1, within: Self.time)).hasWaited == false)
    }

    @Test func aCancelledTaskWaitsNoLonger() async throws {
        let first = try #require(await gate.enter("a", tries: 1, within: Self.time))
        let second = await waiting()
        let third = await waiting()
        second.cancel()
        #expect(await second.value == nil)
        gate.leave(first, isRefused: false)
        #expect(await third.value != nil)
    }

    @Test func sharedNoncesAreDroppedAfterThreeRefusalsInARow() throws {
        let nonces = ServerNonces(gate: gate)
        let (one, two) = (try #require(DPoPNonce("one")), try #require(DPoPNonce("two")))
        nonces.learn(one, at: "a", lent: nil, isRefused: false)
        #expect(nonces.newest(at: "a") == one)
        #expect(nonces.newest(at: "b") == nil)
        // One that was replaced meanwhile says nothing.
        for _ in 0..<9 { nonces.learn(nil, at: "a", lent: two, isRefused: true) }
        #expect(nonces.newest(at: "a") == one)
        for _ in 0..<2 { nonces.learn(nil, at: "a", lent: one, isRefused: true) }
        nonces.learn(nil, at: "a", lent: two, isRefused: false)
        for _ in 0..<2 { nonces.learn(nil, at: "a", lent: one, isRefused: true) }
        nonces.learn(two, at: "a", lent: one, isRefused: nil)
        #expect(nonces.newest(at: "a") == two)
        nonces.learn(nil, at: "a", lent: two, isRefused: true)
        #expect(nonces.newest(at: "a") == nil)
    }
}
