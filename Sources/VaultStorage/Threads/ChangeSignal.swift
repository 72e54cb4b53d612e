import Synchronization

/// Notifies observers of this process's commits. Without observers it costs the writer one load.
package final class ChangeSignal: Sendable {
    package struct Token: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var last = 0
        var observers: [Int: @Sendable (_ dueFrom: Timestamp) -> Void] = [:]
    }

    /// Observers that are about to begin: a later change waits for them.
    package let arrivals = Arrivals()
    private let isObserved = Atomic<Bool>(false)
    private let state = Mutex(State())

    package init() {}

    /// - Parameter action: Called on the writer's thread after commits; it must not block. None of the changes makes a
    ///   login due before `dueFrom`.
    package func observe(_ action: @escaping @Sendable (_ dueFrom: Timestamp) -> Void) -> Token {
        state.withLock { state in
            state.last += 1
            state.observers[state.last] = action
            isObserved.store(true, ordering: .sequentiallyConsistent)
            return Token(number: state.last)
        }
    }

    package func cancel(_ token: Token) {
        state.withLock { state in
            state.observers[token.number] = nil
            isObserved.store(!state.observers.isEmpty, ordering: .sequentiallyConsistent)
        }
    }

    package func fire(dueFrom: Timestamp) {
        guard isObserved.load(ordering: .sequentiallyConsistent) else { return }
        for action in state.withLock({ Array($0.observers.values) }) { action(dueFrom) }
    }
}
