import Synchronization
import VaultStorage

/// The server timeline that this process last used, and its last known position on it. Shared by all of the process's
/// connections.
final class TimelineTracker: Sendable {
    private struct State {
        /// nil until the process has worked on one.
        var history: ServerTimeline?
        var changes: Int64 = 0
        /// The last change that this process made itself, and the last one that another process is known to have
        /// learned of.
        var own: Int64 = 0
        var heardOf: Int64 = 0
        /// The end of the trail after its own last change, which must exist from then on.
        var head: WriteTransaction.AuditHead?
        /// Other processes that have left cleanly. Their commits are among the changes that this process knows of.
        var left: [Int64] = []
        var look: (@Sendable () -> Void)?
        var remember: (@Sendable () -> Void)?
    }

    /// Their rows do not stay for long, except where a standby lags.
    private static let mostLeft = 1_000

    private let state = Mutex(State())

    var history: ServerTimeline? { state.withLock { $0.history } }

    /// The vault's last change number that this process knows; nil if it has not worked yet.
    var knownChanges: Int64? { state.withLock { $0.history == nil ? nil : $0.changes } }

    /// The end of the trail after its own last change.
    var head: WriteTransaction.AuditHead? {
        get { state.withLock { $0.head } }
        set { state.withLock { $0.head = newValue } }
    }

    /// Whether no other process knows of its last commit. A failover that loses the commit, and this process with it,
    /// would leave no process that misses it.
    var isAhead: Bool { state.withLock { $0.own > $0.heardOf } }

    var left: [Int64] { state.withLock { $0.left } }

    /// Records which processes have left, once it knows of everything committed before that.
    func noteLeft(_ owners: [Int64], in history: ServerTimeline?) {
        if owners.isEmpty { return }
        state.withLock { state in
            guard history == state.history else { return }
            state.left = (state.left + owners).suffix(Self.mostLeft)
        }
    }

    /// Sets the closure that settles a failover. Each connection that meets an unsettled timeline calls it.
    func onUnsettled(_ look: @escaping @Sendable () -> Void) { state.withLock { $0.look = look } }

    /// Sets the closure that keeps this process's knowledge beyond its end. It is called from time to time.
    func onRemembering(_ remember: @escaping @Sendable () -> Void) { state.withLock { $0.remember = remember } }

    func remember() { state.withLock { $0.remember }?() }

    /// Records the number of changes so far; ignores it on an unsettled timeline.
    ///
    /// - Parameters:
    ///   - before: the number that this process knew when it asked. If there are fewer, the database was set back under
    ///     its server.
    ///   - heardOf: the number that another process knows of, if there is one.
    func note(_ changes: Int64, in history: ServerTimeline?, since before: Int64? = nil, heardOf: Int64? = nil) {
        let look = state.withLock { state -> (@Sendable () -> Void)? in
            guard history == state.history else { return nil }
            state.changes = max(state.changes, changes)
            if before != nil { state.heardOf = heardOf ?? changes }
            return changes < before ?? changes ? state.look : nil
        }
        look?()
    }

    /// The same for a commit of its own.
    func acknowledge(_ changes: Int64, _ head: WriteTransaction.AuditHead, in history: ServerTimeline?) {
        note(changes, in: history)
        state.withLock { state in
            guard history == state.history else { return }
            state.own = max(state.own, changes)
            state.head = head
        }
    }

    /// From here on this process works on that timeline.
    func settle(_ history: ServerTimeline?, changes: Int64) {
        state.withLock { state in
            (state.history, state.changes, state.own, state.heardOf) = (history, changes, 0, 0)
        }
    }

    /// Refuses a connection whose timeline is not the one that this process works on.
    func require(_ history: ServerTimeline?) throws(StoreError) {
        try refuseFormer(history)
        let (isSame, look) = state.withLock { state in
            (state.history == nil || state.history == history, state.look)
        }
        if isSame { return }
        look?()
        throw .unsettled
    }

    /// Refuses another cluster, and a server that another one has replaced.
    func refuseFormer(_ history: ServerTimeline?) throws(StoreError) {
        guard let own = self.history, let history else { return }
        if history.system != own.system { throw .otherCluster }
        if history.timeline < own.timeline { throw .replaced }
    }
}
