import VaultStorage

/// What an audit row about a login says to those who watch it.
struct SessionRow: Sendable {
    enum Fact: Equatable, Sendable {
        /// A new login; what it looks like is read from it.
        case created
        /// The login's own access token was replaced, or its expiry has been learnt (then there is no `updated`).
        case token(Expiry, isNew: Bool, scope: ScopeChange?)
        case died(RefreshFailure)
        case ended(TerminationReason)
        case removed(TerminationReason?)
        /// The *refresh failed* flag was lifted: what was kept of the login counts again.
        case revived(Expiry)
        /// A renewal met something that only people can mend.
        case obstacle(VaultError.Code)
    }

    enum Expiry: Equatable, Sendable {
        case at(Timestamp)
        case unknown
        /// There is no longer an access token.
        case noToken

        /// Whether a token with this end is of no use at this time.
        func hasPassed(at time: Timestamp) -> Bool {
            switch self {
            case .at(let end): end <= time
            case .unknown: false
            case .noToken: true
            }
        }

        var instant: Timestamp? { if case .at(let end) = self { end } else { nil } }
    }

    let sequence: Int64
    let time: Timestamp
    let user: UserHandle
    let login: LoginHandle
    /// After what the row tells; nil in rows of versions that did not tell it.
    let generation: Int64?
    /// What the login looked like before, as far as the row knows.
    let stateBefore: SessionState?
    let fact: Fact
    /// What the provider answered, for people.
    var answer: String?
}

extension SessionRow {
    /// Nil for a row that no watcher of logins needs.
    init?(_ entry: AuditEntry) {
        guard let user = entry.user, let login = entry.login, let fact = Fact(entry) else { return nil }
        self.init(
            sequence: entry.sequence, time: entry.time, user: user, login: login,
            generation: entry.number(AuditEvent.Detail.Key.generation),
            stateBefore: entry.value(AuditEvent.Detail.Key.was).flatMap { SessionState(was: $0, before: entry.time) },
            fact: fact)
        answer = entry.value(AuditEvent.Detail.Key.answer)
    }
}

extension SessionRow.Fact {
    fileprivate init?(_ entry: AuditEntry) {
        let expiry = entry.value(AuditEvent.Detail.Key.expires).map { SessionRow.Expiry(stored: $0) }
        switch entry.kind {
        case .loginCreated:
            self = .created
        case .loggedOut:
            self = .removed(nil)
        case .loginRemoved:
            self = .removed(
                entry.value(AuditEvent.Detail.Key.cause) == AuditEvent.Detail.userErased ? .userDeleted : nil)
        case .loginDead:
            let date = entry.number(AuditEvent.Detail.Key.since).map { Timestamp(milliseconds: $0) } ?? entry.time
            self = .died(
                RefreshFailure(reason: .init(name: entry.value(AuditEvent.Detail.Key.reason) ?? ""), date: date.date))
        case .loginRevived:
            guard let expiry else { return nil }
            self = .revived(expiry)
        case .renewed, .tokenUpdated:
            // A token for one resource leaves the login's own as it is.
            guard let expiry else { return nil }
            self = .token(expiry, isNew: true, scope: entry.scopeChange)
        default:
            if let code = entry.number(AuditEvent.Detail.Key.ended) {
                self = .ended(TerminationReason(code: UInt8(clamping: code)))
            } else if let expiry {
                self = .token(expiry, isNew: false, scope: nil)
            } else if entry.kind == .renewalFailed, let code = entry.cause.flatMap({ VaultError.Code(obstacle: $0) }) {
                self = .obstacle(code)
            } else {
                return nil
            }
        }
    }
}

extension SessionRow.Expiry {
    fileprivate init(stored text: String) {
        if text == AuditEvent.Detail.noToken {
            self = .noToken
        } else {
            self = Int64(text).map { .at(Timestamp(milliseconds: $0)) } ?? .unknown
        }
    }
}

extension SessionState {
    /// From an audit row. Why and when a login had died before is not in it.
    fileprivate init?(was name: String, before time: Timestamp) {
        switch name {
        case "establishing": self = .establishing
        case "established": self = .established
        case "tokenExpired": self = .tokenExpired(nil)
        case "refreshFailed": self = .tokenExpired(RefreshFailure(reason: .init(name: ""), date: time.date))
        case "terminated": self = .terminated(TerminationReason(code: 0))
        default: return nil
        }
    }
}

extension VaultError.Code {
    fileprivate init?(obstacle cause: AuditCause) {
        switch cause {
        case .needsUser: self = .needsUserInteraction
        case .misconfigured: self = .providerMisconfigured
        case .targetRefused, .transient, .notSent, .withdrawn, .successorOnly, .otherTokenTaken, .doubt, .challenge,
            .introspected:
            return nil
        }
    }
}
