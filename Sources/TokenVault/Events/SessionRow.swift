import VaultStorage

/// An audit row about a login, as subscribers need it.
struct SessionRow: Sendable {
    let sequence: Int64
    let time: Timestamp
    let user: UserHandle
    let login: LoginHandle
    /// The login after the row; nil: it could not be opened when it was removed.
    let look: LoginSnapshot?
    /// The state that goes with it.
    let state: SessionState
    /// Whether it differs from the state before.
    let isNewState: Bool
    let isFirst: Bool
    /// Whether the login is gone.
    let isLast: Bool
    /// Whether the login's own access token was replaced.
    let isNewToken: Bool
    /// The events that are reported besides the state.
    let news: [SessionEvent.Kind]
    /// The provider's answer, for people.
    let answer: String?
}

extension SessionRow {
    /// Nil for a row that does not record a login's state.
    init?(_ entry: AuditEntry) {
        guard let user = entry.user, let login = entry.login else { return nil }
        let look = entry.look
        isLast = look.map { $0.state == nil } ?? (entry.kind == .loggedOut || entry.kind == .loginRemoved)
        if let stored = look?.state {
            state = SessionState(stored)
        } else {
            guard isLast else { return nil }
            state = entry.isOfErasedUser ? .terminated(.userDeleted) : .notLoggedIn
        }
        (sequence, time) = (entry.sequence, entry.time)
        (self.user, self.login, self.look) = (user, login, look)
        isNewState = look?.isNew ?? true
        isFirst = entry.kind == .loginCreated || entry.kind == .loginImported
        isNewToken = entry.replacesToken
        news = entry.news
        answer = entry.value(AuditEvent.Detail.Key.answer)
    }
}

extension AuditEntry {
    /// The event for subscribers to all logins, if the row is about a provider.
    var providerEvent: SessionEvent? {
        guard damage == nil, provider != nil, let name = value("name") else { return nil }
        let kind: SessionEvent.Kind
        switch self.kind {
        case .providerStopped:
            kind = .providerStopped(name: name, ended: value(AuditEvent.Detail.count).flatMap { Int($0) } ?? 0)
        case .providerResumed, .deathsAccepted: kind = .providerResumed(name: name)
        case .providerDrifted: kind = .providerDrifted(name: name)
        default: return nil
        }
        return SessionEvent(kind, login: nil, userId: nil, generation: nil, date: time.date)
    }

    fileprivate var isOfErasedUser: Bool { value(AuditEvent.Detail.Key.cause) == AuditEvent.Detail.userErased }

    /// A token for one resource advances the chain, and leaves the login's own as it is.
    fileprivate var replacesToken: Bool {
        guard let look, [.renewed, .tokenUpdated, .importFollowed, .loggedInAgain].contains(kind) else { return false }
        return look.token?.generation == look.generation
    }

    fileprivate var news: [SessionEvent.Kind] {
        switch kind {
        case .renewed, .tokenUpdated, .importFollowed, .loggedInAgain:
            guard replacesToken else { return recovery }
            return [.updated] + (scopeChange.map { [.scopeChanged(isNarrower: $0 == .narrower)] } ?? []) + recovery
        case .loginDead:
            guard case .refreshFailed(let failure)? = look?.state else { return [] }
            return [.refreshFailed(RefreshFailure(failure))]
        case .renewalFailed: return cause.flatMap { VaultError.Code(obstacle: $0) }.map { [.error($0)] } ?? []
        default: return recovery
        }
    }

    private var recovery: [SessionEvent.Kind] { look?.isRecovery == true ? [.recovered] : [] }
}

extension VaultError.Code {
    /// A problem that only a person can fix.
    fileprivate init?(obstacle cause: AuditCause) {
        switch cause {
        case .needsUser, .resourceMoved: self = .needsUserInteraction
        case .misconfigured: self = .providerMisconfigured
        case .targetRefused, .transient, .notSent, .withdrawn, .successorOnly, .otherTokenTaken, .doubt, .challenge,
            .introspected, .missing, .providerStopped:
            return nil
        }
    }
}
