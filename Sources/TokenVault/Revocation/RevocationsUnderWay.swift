import OAuthClient
import Synchronization
import VaultStorage

/// Which outbox entries are being tried by this manager, and whether a pass over the outbox runs.
final class RevocationsUnderWay: Sendable {
    typealias Outcome = RevocationReport.Outcome

    /// Who tries an entry.
    enum Turn: Sendable {
        /// The caller; he must end it.
        case own
        /// Another caller did meanwhile; nil: it could not settle it either.
        case others(Outcome?)
    }

    private enum Pass {
        case idle
        case running
        /// A caller asked during a pass: what it means may have been passed already.
        case runningAndWanted
    }

    private struct State {
        var waiters: [OutboxHandle: [OneAnswer<Outcome?>]] = [:]
        /// What became of entries that this manager has settled: who queued one and comes late need not guess.
        var settled = RecentTable<OutboxHandle, Outcome>(capacity: 1_024)
        var pass = Pass.idle
    }

    private let state = Mutex(State())

    /// Returns at once for the first; for those that come during its try, when it is over.
    func begin(_ entry: OutboxHandle) async -> Turn {
        let answer = OneAnswer<Outcome?>()
        let isFirst = state.withLock { state in
            state.waiters[entry]?.append(answer)
            if state.waiters[entry] != nil { return false }
            state.waiters[entry] = []
            return true
        }
        return isFirst ? .own : .others(await answer.value())
    }

    func end(_ entry: OutboxHandle, _ outcome: Outcome?) {
        let waiters = state.withLock { state in
            if let outcome, outcome.isEnd { state.settled.insert(outcome, for: entry) }
            return state.waiters.removeValue(forKey: entry) ?? []
        }
        for waiter in waiters { waiter.give(outcome) }
    }

    /// What this manager has heard of an entry that is gone; nil: it was not here that it ended.
    func outcome(of entry: OutboxHandle) -> Outcome? { state.withLock { $0.settled[entry] } }

    /// How many wait for another's try.
    var waitingCount: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

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

extension RevocationReport.Outcome {
    /// Whether the entry went with it.
    fileprivate var isEnd: Bool {
        if case .pending = self { false } else { true }
    }
}
