import Synchronization

/// Connections for reading, straight on the calling thread. It grows to as many as read at the same time.
final class ReaderPool: Sendable {
    /// More than these are closed when they are given back.
    private static let kept = 8

    private struct State {
        var idle: [Reader] = []
        var isClosed = false
    }

    private let context: VaultContext
    private let state: Mutex<State>

    init(_ context: VaultContext, first: Reader) {
        self.context = context
        state = Mutex(State(idle: [first]))
    }

    @inline(__always)
    func read<R>(_ body: (Reader) throws(StoreError) -> R) throws(StoreError) -> R {
        let idle = try state.withLock { state throws(StoreError) -> Reader? in
            if state.isClosed { throw .closed }
            return state.idle.popLast()
        }
        let reader = if let idle { idle } else { try Reader(context) }
        defer { giveBack(reader) }
        return try body(reader)
    }

    private func giveBack(_ reader: Reader) {
        state.withLock { state in
            if !state.isClosed, state.idle.count < Self.kept { state.idle.append(reader) }
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.idle = []
        }
    }
}
