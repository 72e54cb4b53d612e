import Synchronization
import VaultStorage

/// Which outbox entries are being tried by this manager, and whether a pass over the outbox runs.
final class RevocationsUnderWay: Sendable {
    private enum Pass {
        case idle
        case running
        /// Somebody asked during a pass: what he means may have been passed already.
        case runningAndWanted
    }

    private struct State {
        var entries: Set<OutboxHandle> = []
        var pass = Pass.idle
    }

    private let state = Mutex(State())

    /// False if the entry is being tried already.
    func begin(_ entry: OutboxHandle) -> Bool {
        state.withLock { $0.entries.insert(entry).inserted }
    }

    func end(_ entry: OutboxHandle) {
        state.withLock { _ = $0.entries.remove(entry) }
    }

    /// Whether no pass runs.
    var isIdle: Bool { state.withLock { $0.pass == .idle } }

    /// True for the caller who is to begin a pass.
    func passWanted() -> Bool {
        state.withLock { state in
            let isFirst = state.pass == .idle
            state.pass = isFirst ? .running : .runningAndWanted
            return isFirst
        }
    }

    /// True if another pass is to follow.
    func passEnded() -> Bool {
        state.withLock { state in
            let isWanted = state.pass == .runningAndWanted
            state.pass = isWanted ? .running : .idle
            return isWanted
        }
    }
}
