import OAuthClient
import Synchronization
import VaultStorage

/// The outbox entries that this manager is trying, and whether a pass over the outbox runs.
final class RevocationsUnderWay: Sendable {
    typealias Outcome = RevocationReport.Outcome

    /// The caller that tries an entry.
    enum Turn: Sendable {
        /// The caller itself, which must end the turn.
        case own
        /// Another caller tried it meanwhile; nil: it could not settle it either.
        case others(Outcome?)
    }

    private enum Pass {
        case idle
        case running
        /// A caller asked during a pass, which may already have gone past the caller's entry.
        case runningAndWanted
    }

    private struct State {
        var waiters: [OutboxHandle: [OneAnswer<Outcome?>]] = [:]
        /// The outcomes of entries that this manager has settled: a caller that queued one and comes late need not
        /// guess.
        var settled = RecentTable<OutboxHandle, Outcome>(capacity: 1_024)
        var pass = Pass.idle
    }

    private let state = Mutex(State())

    /// Returns at once for the first caller; for those that come during its try, when it is over.
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

    /// The outcome of an entry that is gone; nil: this manager did not settle it.
    func outcome(of entry: OutboxHandle) -> Outcome? { state.withLock { $0.settled[entry] } }

    /// How many callers wait for another's try.
    var waitingCount: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// Whether no pass runs.
    var isIdle: Bool { state.withLock { $0.pass == .idle } }

    /// True for the caller that must begin a pass.
    func passWanted() -> Bool {
        state.withLock { state in
            let isFirst = state.pass == .idle
            state.pass = isFirst ? .running : .runningAndWanted
            return isFirst
        }
    }

    /// True if another pass must follow.
    func passEnded() -> Bool {
        state.withLock { state in
            let isWanted = state.pass == .runningAndWanted
            state.pass = isWanted ? .running : .idle
            return isWanted
        }
    }
}

extension RevocationReport.Outcome {
    /// Whether this outcome removes the entry.
    fileprivate var isEnd: Bool {
        if case .pending = self { false } else { true }
    }
}
