import Synchronization

/// An answer with one waiter, given by the first of several sources: the app, a time limit, or a change that makes the
/// question void.
final class OneAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open(Waiter?)
        case given(Value)
        /// Given and received.
        case over
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Value, Never>
        let work: WorkToken?
    }

    private let state = Mutex(State.open(nil))

    var isOpen: Bool {
        state.withLock { if case .open = $0 { true } else { false } }
    }

    /// False if there was an answer already: then this one is ignored.
    @discardableResult
    func give(_ value: Value) -> Bool {
        let (isFirst, waiter): (Bool, Waiter?) = state.withLock { state in
            guard case .open(let waiter) = state else { return (false, nil) }
            state = waiter == nil ? .given(value) : .over
            return (true, waiter)
        }
        waiter?.work?.endWait()
        waiter?.continuation.resume(returning: value)
        return isFirst
    }

    /// May be called once. It cannot be cancelled: only an answer ends the wait.
    func value() async -> Value {
        let work = WorkToken.current
        return await withCheckedContinuation { continuation in
            let given: Value? = state.withLock { state in
                switch state {
                case .given(let value):
                    state = .over
                    return value
                case .open, .over:
                    work?.beginWait()
                    state = .open(Waiter(continuation: continuation, work: work))
                    return nil
                }
            }
            if let given { continuation.resume(returning: given) }
        }
    }

    /// As ``value()``, or this value if none was given in time. Without a time limit it waits without end.
    func value(within time: Duration?, _ timeSource: any TimeSource, otherwise value: Value) async -> Value {
        let alarm = time.map { timeSource.alarm(after: $0) { self.give(value) } }
        defer { alarm?.cancel() }
        return await self.value()
    }
}
