import Synchronization

/// Holds whoever comes until a test opens it; open, it stays open.
public final class Gate: Sendable {
    private enum State {
        case closed([CheckedContinuation<Void, Never>])
        case open
    }

    private let state = Mutex(State.closed([]))

    public init() {}

    public func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .closed(let waiting) = state else { return true }
                state = .closed(waiting + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    public func open() {
        let waiting = state.withLock { state in
            guard case .closed(let waiting) = state else { return [CheckedContinuation<Void, Never>]() }
            state = .open
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// How many it holds.
    public var waitingCount: Int {
        state.withLock { state in
            if case .closed(let waiting) = state { waiting.count } else { 0 }
        }
    }
}
