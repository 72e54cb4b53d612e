import VaultStorage

/// The logins that a subscriber watches.
enum FeedScope: Sendable {
    case all
    case user(String)
    case login(LoginHandle)
}

/// An event, with its login and user.
struct FeedEvent: Sendable {
    let event: SessionEvent
    let login: LoginHandle
    let user: UserHandle
    let userId: String
    /// The audit row that it is from; nil: only time has passed.
    let sequence: Int64?
}

/// A receiver of events or of states.
struct FeedSubscriber: Sendable {
    enum Sink: Sendable {
        case events(EventBuffer<SessionEvent>)
        /// With the state that was delivered last.
        case states(EventBuffer<SessionState>, last: SessionState)
    }

    let scope: FeedScope
    var sink: Sink
    /// For a scope that names a user: nil while the vault does not know them.
    var user: UserHandle?
    /// Rows up to this one were written before the subscription. A known login has a row of its own.
    let from: Int64
    /// The logins as they were when the subscription began, so that nothing is reported twice.
    var known: [LoginHandle: WatchedLogin] = [:]
    /// The states reported since.
    var states: [LoginHandle: SessionState] = [:]

    /// Whether the subscription began after the event, or with it.
    func has(_ event: FeedEvent) -> Bool {
        let known = known[event.login]
        if let sequence = event.sequence, sequence <= known?.asOf ?? from, event.event.kind.isOfRow { return true }
        guard let known, let generation = event.event.generation else { return false }
        switch event.event.kind {
        case .willExpire: return generation <= known.tokenGeneration && known.reported >= .willExpire
        case .expired: return generation <= known.tokenGeneration && known.reported >= .expired
        case .refreshTokenWillExpire(let date):
            return known.hasWarnedOfRefresh && date == known.refreshEnd?.endsAt.date
        case .stateChanged(let state): return state == states[event.login] ?? known.state
        default: return false
        }
    }

    func finish() {
        switch sink {
        case .events(let buffer): buffer.finish()
        case .states(let buffer, _): buffer.finish()
        }
    }
}

extension SessionEvent.Kind {
    /// Whether an audit row reports it; the others follow from time alone.
    fileprivate var isOfRow: Bool {
        switch self {
        case .updated, .stateChanged, .refreshFailed, .recovered, .scopeChanged, .error, .providerStopped,
            .providerResumed, .providerDrifted:
            true
        case .willExpire, .expired, .refreshTokenWillExpire, .missed: false
        }
    }
}
