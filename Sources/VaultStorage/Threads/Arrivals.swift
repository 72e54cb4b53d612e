import Synchronization

/// Announced beginnings, and the callers that wait for them.
///
/// Where the engine has to be waited for, a subscription begins some milliseconds after it was requested. Changes of
/// the same process wait for it, so a caller that subscribes and then changes something receives that change.
package final class Arrivals: Sendable {
    private struct Waiter {
        /// The last beginning that was announced by then. Later ones are not waited for, or the wait might never end.
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

    /// Announces a beginning. Returns the number for ``end(_:)``.
    package func announce() -> Int {
        state.withLock { state in
            state.last += 1
            state.pending.insert(state.last)
            return state.last
        }
    }

    /// Notes that it has begun, or never will.
    package func end(_ number: Int) {
        let ready = state.withLock { state -> [Waiter] in
            state.pending.remove(number)
            let oldest = state.pending.min() ?? .max
            defer { state.waiting.removeAll { $0.last < oldest } }
            return state.waiting.filter { $0.last < oldest }
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns when every previously announced beginning has ended.
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
