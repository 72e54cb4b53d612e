import VaultStorage

/// Which logins a subscriber wants to hear of.
enum FeedScope: Sendable {
    case all
    case user(String)
    case login(LoginHandle)
}

/// One who is told.
struct FeedSubscriber: Sendable {
    enum Sink: Sendable {
        case events(Mailbox<SessionEvent>)
        /// With the state that was told last.
        case states(Mailbox<SessionState>, last: SessionState)
    }

    let scope: FeedScope
    var sink: Sink
    /// Of a scope that names a user: nil while the vault does not know him.
    var user: UserHandle?
    /// Rows up to this one were written before the subscription.
    let from: Int64
    /// What was told of logins when the subscription began, and their states since, so that nothing is told twice.
    var told: [LoginHandle: SessionPage] = [:]

    func wants(_ telling: SessionBook.Telling) -> Bool {
        switch scope {
        case .all: break
        case .user: guard telling.user == user else { return false }
        case .login(let login): guard telling.login == login else { return false }
        }
        if let sequence = telling.sequence, sequence <= from { return !telling.event.kind.isOfRow }
        return true
    }

    /// Whether this has been told.
    func knows(_ telling: SessionBook.Telling) -> Bool {
        guard let known = told[telling.login], let generation = telling.event.generation else { return false }
        switch telling.event.kind {
        case .willExpire: return generation <= known.tokenGeneration && known.told >= .willExpire
        case .expired: return generation <= known.tokenGeneration && known.told >= .expired
        case .refreshTokenWillExpire(let date): return known.hasWarnedOfRefresh && date == known.refreshEndsAt?.date
        case .stateChanged(let state): return state == known.state
        default: return false
        }
    }

    func finish() {
        switch sink {
        case .events(let mailbox): mailbox.finish()
        case .states(let mailbox, _): mailbox.finish()
        }
    }
}

extension SessionEvent.Kind {
    /// Whether it is told because of a row; the others come of the time.
    fileprivate var isOfRow: Bool {
        switch self {
        case .updated, .stateChanged, .refreshFailed, .scopeChanged, .error: true
        case .willExpire, .expired, .refreshTokenWillExpire, .missed: false
        }
    }
}
