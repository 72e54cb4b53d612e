import OAuthClient
import Synchronization

/// One fetch of a client's token, and its waiting callers. None of them can end it.
final class ClientTokenFlight: Sendable {
    enum Wait: Sendable {
        case token(ClientToken)
        case failed(VaultError)
        case cancelled
        case deadlinePassed
    }

    private struct State {
        var end: Wait?
        var waiters: [OneAnswer<Wait>] = []
    }

    private let state = Mutex(State())

    /// Waits for the end, the caller's cancellation or the deadline, whichever comes first.
    func wait(within deadline: Duration?, _ timeSource: any TimeSource) async -> Wait {
        let answer = OneAnswer<Wait>()
        let end = state.withLock { state in
            if state.end == nil { state.waiters.append(answer) }
            return state.end
        }
        if let end { return end }
        let alarm = deadline.map { timeSource.alarm(after: $0) { answer.give(.deadlinePassed) } }
        defer { alarm?.cancel() }
        return await withTaskCancellationHandler {
            await answer.value()
        } onCancel: {
            answer.give(.cancelled)
        }
    }

    func end(_ end: Wait) {
        let waiters = state.withLock { state in
            state.end = end
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.give(end) }
    }
}
