import DequeModule
import Synchronization

/// One subscriber's unfetched events: in order, and bounded. Putting in never waits.
final class EventBuffer<Element: Sendable>: Sendable {
    /// How a full buffer treats a new element.
    enum Overflow: Sendable {
        /// Counts it; the count follows the kept elements.
        case count(@Sendable (Int) -> Element)
        /// Drops the oldest element, so that the newest always arrives.
        case dropOldest
    }

    private struct State {
        var waiting: Deque<Element> = []
        var missed = 0
        var isFinished = false
        var reader: CheckedContinuation<Element?, Never>?
        var readerIsCancelled = false
    }

    private let limit: Int
    private let overflow: Overflow
    private let state = Mutex(State())

    init(limit: Int, overflow: Overflow) {
        self.limit = limit
        self.overflow = overflow
    }

    func put(_ element: Element) {
        let reader: CheckedContinuation<Element?, Never>? = state.withLock { state in
            if state.isFinished { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            guard state.waiting.count >= limit || state.missed > 0 else {
                state.waiting.append(element)
                return nil
            }
            switch overflow {
            case .count: state.missed += 1
            case .dropOldest:
                state.waiting.removeFirst()
                state.waiting.append(element)
            }
            return nil
        }
        reader?.resume(returning: element)
    }

    /// Records events that were not seen, to be reported after the kept ones.
    func miss(_ count: Int) {
        guard case .count(let report) = overflow, count > 0 else { return }
        let reader: CheckedContinuation<Element?, Never>? = state.withLock { state in
            if state.isFinished { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if state.missed == 0, state.waiting.count < limit {
                state.waiting.append(report(count))
            } else {
                state.missed += count
            }
            return nil
        }
        reader?.resume(returning: report(count))
    }

    /// Kept elements can still be fetched.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    /// The next element; nil after the last, and when the task is cancelled. For one reader at a time.
    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let immediate: (isReady: Bool, element: Element?) = state.withLock { state in
                    if state.readerIsCancelled { return (true, nil) }
                    if let element = take(&state) { return (true, element) }
                    // A second reader would take elements from the first: it gets the end.
                    if state.isFinished || state.reader != nil { return (true, nil) }
                    state.reader = continuation
                    return (false, nil)
                }
                if immediate.isReady { continuation.resume(returning: immediate.element) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.readerIsCancelled = true
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }

    /// Everything in the buffer now.
    func takeAll() -> [Element] {
        state.withLock { state in
            var all: [Element] = []
            while let element = take(&state) { all.append(element) }
            return all
        }
    }

    private func take(_ state: inout State) -> Element? {
        if let element = state.waiting.popFirst() { return element }
        guard state.missed > 0, case .count(let report) = overflow else { return nil }
        defer { state.missed = 0 }
        return report(state.missed)
    }
}
