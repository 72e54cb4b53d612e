import Synchronization
import VaultStorage

/// In which of the server's histories this process has worked so far, and how much it knows to have happened in it. Shared by
/// all of the process's connections.
final class HistoryWatch: Sendable {
    private struct State {
        /// nil until the process has worked in one.
        var history: ServerHistory?
        var changes: Int64 = 0
        /// The last of them that this process has made itself, and of which it knows that it is durable.
        var own: Int64 = 0
        var look: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var history: ServerHistory? { state.withLock { $0.history } }

    /// How many transactions had changed the vault when this process last heard of it; nil if it has not worked yet.
    ///
    /// - Parameter onlyAcknowledged: Counts to the last one that was acknowledged to this process. With a synchronous standby,
    ///   later ones may have been promised to no process: the server shows a commit once it has stopped waiting for the
    ///   standby, because the client is gone.
    func knownChanges(onlyAcknowledged: Bool) -> Int64? {
        state.withLock { state in
            guard state.history != nil else { return nil }
            return onlyAcknowledged ? state.own : state.changes
        }
    }

    /// What finds out about a failover. Called by each connection that meets a history that is not settled.
    func onUnsettled(_ look: @escaping @Sendable () -> Void) { state.withLock { $0.look = look } }

    /// Hears how many changes there have been; of a history that is not settled it knows nothing.
    func note(_ changes: Int64, in history: ServerHistory?) {
        state.withLock { state in
            guard history == state.history else { return }
            state.changes = max(state.changes, changes)
        }
    }

    /// The same of a commit of its own.
    func acknowledge(_ changes: Int64, in history: ServerHistory?) {
        note(changes, in: history)
        state.withLock { state in
            guard history == state.history else { return }
            state.own = max(state.own, changes)
        }
    }

    /// From here on this process works in that history.
    func settle(_ history: ServerHistory?, changes: Int64) {
        state.withLock { state in (state.history, state.changes, state.own) = (history, changes, 0) }
    }

    /// Refuses a connection whose history is another one than that in which this process works.
    func require(_ history: ServerHistory?) throws(StoreError) {
        try refuseFormer(history)
        let (isSame, look) = state.withLock { state in
            (state.history == nil || state.history == history, state.look)
        }
        if isSame { return }
        look?()
        throw .unsettled
    }

    /// Refuses another cluster, and a server whose place another one has taken.
    func refuseFormer(_ history: ServerHistory?) throws(StoreError) {
        guard let own = self.history, let history else { return }
        if history.system != own.system { throw .otherCluster }
        if history.timeline < own.timeline { throw .replaced }
    }
}
