import Synchronization

/// A clock that must know when a vault is at work, because it stops meanwhile: one that a test moves.
///
/// Each `workBegan()` is followed by one `workEnded()`.
package protocol WorkClock: TimeSource {
    func workBegan()
    func workEnded()
}

/// One task at work, as a ``WorkClock`` sees it. No other clock gets any.
///
/// The task does not count as at work while it waits for time to pass, for another task or for the app. The code that
/// ends such a wait ends it here first and then resumes the task, so that no instant in between looks like rest. Tasks
/// that share a token count as at work while none of them waits.
package final class WorkToken: Sendable {
    private struct State {
        var waits = 0
        var isOver = false
    }

    /// The running task's token.
    @TaskLocal package static var current: WorkToken?

    private let clock: any WorkClock
    private let state = Mutex(State())

    package init(_ clock: any WorkClock) {
        self.clock = clock
        clock.workBegan()
    }

    package func beginWait() {
        let isFirst = state.withLock { state in
            state.waits += 1
            return state.waits == 1 && !state.isOver
        }
        if isFirst { clock.workEnded() }
    }

    package func endWait() {
        state.withLock { state in
            state.waits -= 1
            // Inside: the clock must not see the end of the work before its beginning.
            if state.waits == 0, !state.isOver { clock.workBegan() }
        }
    }

    package func end() {
        let wasAtWork = state.withLock { state in
            defer { state.isOver = true }
            return state.waits == 0 && !state.isOver
        }
        if wasAtWork { clock.workEnded() }
    }
}

extension TimeSource {
    /// Runs the action when the time is over, unless it is cancelled before.
    func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let token = (self as? any WorkClock).map { WorkToken($0) }
        return Task {
            await WorkToken.$current.withValue(token) {
                defer { token?.end() }
                guard (try? await sleep(for: duration)) != nil else { return }
                action()
            }
        }
    }
}
