import Synchronization

/// Lets one task wait for a signal, or for time to pass. A signal between two waits ends the next one.
final class Wakeup: Sendable {
    private struct State {
        var isSignalled = false
        var isStopped = false
        var waiter: OneAnswer<Void>?
    }

    private let state = Mutex(State())

    /// For tests: whether a task waits.
    var isWaiting: Bool { state.withLock { $0.waiter != nil } }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Never waits: the store's writer calls it.
    func signal() { wake { $0.isSignalled = true } }

    /// Ends this wait and all later ones at once.
    func stop() { wake { $0.isStopped = true } }

    private func wake(_ change: (inout sending State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            if state.waiter != nil { state.isSignalled = false }
            return state.waiter
        }
        waiter?.give(())
    }

    func wait(for duration: Duration, _ timeSource: any TimeSource) async {
        let waiter = state.withLock { state -> OneAnswer<Void>? in
            defer { state.isSignalled = false }
            guard !state.isSignalled, !state.isStopped else { return nil }
            let waiter = OneAnswer<Void>()
            state.waiter = waiter
            return waiter
        }
        guard let waiter else { return }
        let alarm = timeSource.alarm(after: duration) { self.signal() }
        defer { alarm.cancel() }
        await waiter.value()
    }
}
