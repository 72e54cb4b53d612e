import Synchronization

/// A value that several tasks of a test read and write.
package final class Box<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    package init(_ value: Value) {
        state = Mutex(value)
    }

    package var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// Something that happens once.
package final class Flag: Sendable {
    private let value = Atomic(false)

    package init() {}

    package var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }

    package func set() { value.store(true, ordering: .sequentiallyConsistent) }

    /// Returns once the flag is set, or the task is cancelled.
    package func wait() async {
        while !isSet, !Task.isCancelled { await Task.yield() }
    }
}

/// How often something has happened.
package final class Counter: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .acquiring) }

    package func add() { count.add(1, ordering: .releasing) }
}
