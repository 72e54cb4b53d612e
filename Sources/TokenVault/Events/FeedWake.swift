import Synchronization

/// Lets the feed sleep until the next instant that matters, or until somebody has committed something.
final class FeedWake: Sendable {
    private struct State {
        var isPoked = false
        var sleeper: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// There is something to look at. Never waits: the store's writer calls it.
    func poke() {
        let sleeper = state.withLock { state in
            state.isPoked = true
            return state.sleeper
        }
        sleeper?.cancel()
    }

    func rest(for duration: Duration, _ timeSource: any TimeSource) async {
        let sleeper = Task { _ = try? await timeSource.sleep(for: duration) }
        let isPoked = state.withLock { state in
            state.sleeper = sleeper
            return state.isPoked
        }
        if isPoked { sleeper.cancel() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        // From here on the feed looks at everything that was committed before.
        state.withLock { state in
            state.isPoked = false
            state.sleeper = nil
        }
    }
}
