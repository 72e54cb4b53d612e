import Synchronization

/// Lets one task wait until something happens, or time has passed. What happens while nobody waits ends the next wait.
final class Wakeup: Sendable {
    private struct Waiter {
        let continuation: CheckedContinuation<Void, Never>
        let work: WorkToken?
    }

    private struct State {
        var isSignalled = false
        var isStopped = false
        var waiter: Waiter?
    }

    private let state = Mutex(State())

    /// For tests: whether somebody waits.
    var isWaiting: Bool { state.withLock { $0.waiter != nil } }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Never waits: the store's writer calls it.
    func signal() { wake { $0.isSignalled = true } }

    /// From now on nothing is waited for.
    func stop() { wake { $0.isStopped = true } }

    private func wake(_ change: (inout sending State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            if state.waiter != nil { state.isSignalled = false }
            state.waiter?.work?.endWait()
            return state.waiter
        }
        waiter?.continuation.resume()
    }

    func wait(for duration: Duration, _ timeSource: any TimeSource) async {
        guard !takeSignal() else { return }
        let alarm = timeSource.alarm(after: duration) { self.signal() }
        defer { alarm.cancel() }
        let work = WorkToken.current
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isSignalled || state.isStopped {
                    state.isSignalled = false
                    return true
                }
                work?.beginWait()
                state.waiter = Waiter(continuation: continuation, work: work)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    private func takeSignal() -> Bool {
        state.withLock { state in
            defer { state.isSignalled = false }
            return state.isSignalled || state.isStopped
        }
    }
}
