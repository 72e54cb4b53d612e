import Synchronization
import TokenVault

/// Holds all tasks that reach it until a test opens it. Once open, it stays open.
public final class Gate: Sendable {
    private struct Waiter: Sendable {
        let continuation: CheckedContinuation<Void, Never>
        let work: WorkToken?
    }

    private enum State {
        case closed([Waiter])
        case open
    }

    private let state = Mutex(State.closed([]))

    public init() {}

    public func pass() async {
        let work = WorkToken.current
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .closed(let waiting) = state else { return true }
                work?.beginWait()
                state = .closed(waiting + [Waiter(continuation: continuation, work: work)])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    public func open() {
        let waiting = state.withLock { state in
            guard case .closed(let waiting) = state else { return [Waiter]() }
            state = .open
            return waiting
        }
        for waiter in waiting {
            waiter.work?.endWait()
            waiter.continuation.resume()
        }
    }

    /// The number of tasks that it holds.
    public var waitingCount: Int {
        state.withLock { state in
            if case .closed(let waiting) = state { waiting.count } else { 0 }
        }
    }
}
