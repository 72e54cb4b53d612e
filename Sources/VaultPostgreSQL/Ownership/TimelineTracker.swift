import Synchronization
import VaultStorage

/// In which of the server's histories this process has worked so far, and how much it knows to have happened in it. Shared by
/// all of the process's connections.
final class TimelineTracker: Sendable {
    private struct State {
        /// nil until the process has worked in one.
        var history: ServerTimeline?
        var changes: Int64 = 0
        /// The last of them that this process has made itself, and what another process is known to have heard of.
        var own: Int64 = 0
        var heardOf: Int64 = 0
        /// The end of the trail after the last of its own, which must be there from then on.
        var head: WriteTransaction.AuditHead?
        /// Others that have left in good order. What they have committed is among the changes that this process knows of.
        var left: [Int64] = []
        var look: (@Sendable () -> Void)?
        var remember: (@Sendable () -> Void)?
    }

    /// Their rows do not stay for long where a standby lags.
    private static let mostLeft = 1_000

    private let state = Mutex(State())

    var history: ServerTimeline? { state.withLock { $0.history } }

    /// How many transactions had changed the vault when this process last heard of it; nil if it has not worked yet.
    var knownChanges: Int64? { state.withLock { $0.history == nil ? nil : $0.changes } }

    /// The end of the trail after the last change of its own.
    var head: WriteTransaction.AuditHead? {
        get { state.withLock { $0.head } }
        set { state.withLock { $0.head = newValue } }
    }

    /// Whether something of its own is committed of which no other process has heard. A failover that loses it, and this
    /// process with it, would leave no process that misses it.
    var isAhead: Bool { state.withLock { $0.own > $0.heardOf } }

    var left: [Int64] { state.withLock { $0.left } }

    /// Hears who has left, once it knows of everything that was committed before that.
    func noteLeft(_ owners: [Int64], in history: ServerTimeline?) {
        if owners.isEmpty { return }
        state.withLock { state in
            guard history == state.history else { return }
            state.left = (state.left + owners).suffix(Self.mostLeft)
        }
    }

    /// What finds out about a failover. Called by each connection that meets a history that is not settled.
    func onUnsettled(_ look: @escaping @Sendable () -> Void) { state.withLock { $0.look = look } }

    /// What keeps beyond the end of this process what it knows. Called once in a while.
    func onRemembering(_ remember: @escaping @Sendable () -> Void) { state.withLock { $0.remember = remember } }

    func remember() { state.withLock { $0.remember }?() }

    /// Hears how many changes there have been; of a history that is not settled it knows nothing.
    ///
    /// - Parameters:
    ///   - before: what it knew when it asked. If there are fewer, the database was put back under its server.
    ///   - heardOf: of how many another process has heard, as far as there is one.
    func note(_ changes: Int64, in history: ServerTimeline?, since before: Int64? = nil, heardOf: Int64? = nil) {
        let look = state.withLock { state -> (@Sendable () -> Void)? in
            guard history == state.history else { return nil }
            state.changes = max(state.changes, changes)
            if before != nil { state.heardOf = heardOf ?? changes }
            return changes < before ?? changes ? state.look : nil
        }
        look?()
    }

    /// The same of a commit of its own.
    func acknowledge(_ changes: Int64, _ head: WriteTransaction.AuditHead, in history: ServerTimeline?) {
        note(changes, in: history)
        state.withLock { state in
            guard history == state.history else { return }
            state.own = max(state.own, changes)
            state.head = head
        }
    }

    /// From here on this process works in that history.
    func settle(_ history: ServerTimeline?, changes: Int64) {
        state.withLock { state in
            (state.history, state.changes, state.own, state.heardOf) = (history, changes, 0, 0)
        }
    }

    /// Refuses a connection whose history is another one than that in which this process works.
    func require(_ history: ServerTimeline?) throws(StoreError) {
        try refuseFormer(history)
        let (isSame, look) = state.withLock { state in
            (state.history == nil || state.history == history, state.look)
        }
        if isSame { return }
        look?()
        throw .unsettled
    }

    /// Refuses another cluster, and a server whose place another one has taken.
    func refuseFormer(_ history: ServerTimeline?) throws(StoreError) {
        guard let own = self.history, let history else { return }
        if history.system != own.system { throw .otherCluster }
        if history.timeline < own.timeline { throw .replaced }
    }
}
