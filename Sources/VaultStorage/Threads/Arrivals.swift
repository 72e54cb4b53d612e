import Synchronization

/// Those who are about to begin something, and those who wait until it has begun.
///
/// Where the engine has to be waited for, a subscription begins some milliseconds after it was asked for. What the same
/// process changes meanwhile comes after it: a caller that subscribes and then changes something hears of that.
package final class Arrivals: Sendable {
    private struct Waiter {
        /// The last that had announced itself by then. Later ones are not waited for, or it might never end.
        let last: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var last = 0
        var pending: Set<Int> = []
        var waiting: [Waiter] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Announces a beginning. Gives the number by which it ends.
    package func announce() -> Int {
        state.withLock { state in
            state.last += 1
            state.pending.insert(state.last)
            return state.last
        }
    }

    /// It has begun, or never will.
    package func end(_ number: Int) {
        let ready = state.withLock { state -> [Waiter] in
            state.pending.remove(number)
            let oldest = state.pending.min() ?? .max
            defer { state.waiting.removeAll { $0.last < oldest } }
            return state.waiting.filter { $0.last < oldest }
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns when everything has begun that was announced before.
    package func settled() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if state.pending.isEmpty { return true }
                state.waiting.append(Waiter(last: state.last, continuation: continuation))
                return false
            }
            if isSettled { continuation.resume() }
        }
    }
}
