import VaultStorage

/// What the feed knows of one login that is watched.
struct SessionPage: Sendable {
    let login: LoginHandle
    let user: UserHandle
    let userID: String
    var state: SessionState
    /// The login's.
    var generation: Int64
    /// The one that brought the access token.
    var tokenGeneration: Int64
    var expiresAt: Timestamp?
    var hasToken = true
    /// When the refresh token or the grant ends.
    var refreshEndsAt: Timestamp?
    var refreshWarnsAt: Timestamp?
    /// What has been told of this access token.
    var told = Told.nothing
    var hasWarnedOfRefresh = false
    /// Rows up to this one are in what was read.
    var asOf: Int64

    enum Told: Int, Comparable, Sendable {
        case nothing, willExpire, expired

        static func < (left: Told, right: Told) -> Bool { left.rawValue < right.rawValue }
    }
}

extension SessionPage {
    /// What has to be told by `now`, in Twilio's order, each once for a token; with the instants at which it came due.
    mutating func tellDue(_ now: Timestamp, _ options: SessionEventOptions) -> [SessionEvent] {
        var events: [SessionEvent] = []
        if let expiresAt {
            let warnsAt = expiresAt.advanced(by: .zero - options.willExpireLead)
            if told < .willExpire, warnsAt <= now {
                told = .willExpire
                events.append(event(.willExpire(at: expiresAt.date), at: max(warnsAt, min(now, expiresAt))))
            }
            if told < .expired, expiresAt <= now {
                told = .expired
                events.append(event(.expired, at: expiresAt))
            }
            if state == .established, expiresAt <= now {
                change(.tokenRanOut, at: expiresAt, &events)
            }
        }
        if !hasWarnedOfRefresh, let ends = refreshEndsAt, let warnsAt = refreshWarnsAt, warnsAt <= now, state.isAlive {
            hasWarnedOfRefresh = true
            events.append(event(.refreshTokenWillExpire(at: ends.date), at: now))
        }
        return events
    }

    /// The clock was set back, and the token is good again. Its end is not told twice, but the state is.
    mutating func revive(_ now: Timestamp) -> [SessionEvent] {
        var events: [SessionEvent] = []
        if let expiresAt, expiresAt > now, state == .tokenExpired(nil), hasToken {
            change(.tokenStored, at: now, &events)
        }
        return events
    }

    /// The next instant at which there may be something to tell.
    func nextDue(_ now: Timestamp, _ options: SessionEventOptions) -> Timestamp? {
        var instants: [Timestamp] = []
        if let expiresAt {
            switch told {
            case .nothing: instants.append(expiresAt.advanced(by: .zero - options.willExpireLead))
            case .willExpire: instants.append(expiresAt)
            case .expired: if state == .established { instants.append(expiresAt) }
            }
        }
        if !hasWarnedOfRefresh, let refreshWarnsAt, state.isAlive { instants.append(refreshWarnsAt) }
        return instants.min()
    }

    /// Another access token, or another end of the same. Each generation brings one token.
    mutating func take(_ expiry: SessionRow.Expiry, generation: Int64) {
        if generation > tokenGeneration {
            tokenGeneration = generation
            told = .nothing
        } else if told == .expired, let end = expiry.instant, end > expiresAt ?? end {
            told = .willExpire
        }
        expiresAt = expiry.instant
    }

    mutating func change(_ change: SessionChange, at time: Timestamp, _ events: inout [SessionEvent]) {
        let next = state.after(change)
        guard next != state else { return }
        state = next
        events.append(event(.stateChanged(next), at: time))
    }

    /// Timed events are about the access token, all others about the login.
    func event(_ kind: SessionEvent.Kind, at time: Timestamp) -> SessionEvent {
        let isTimed =
            switch kind {
            case .willExpire, .expired: true
            default: false
            }
        return SessionEvent(
            kind, login: LoginID(login), userID: knownUserID, generation: Int(isTimed ? tokenGeneration : generation),
            date: time.date)
    }
}

extension SessionPage {
    /// Nil for a user who is gone.
    var knownUserID: String? { userID.isEmpty ? nil : userID }
}

extension SessionState {
    /// Whether the refresh token of such a login is of any use.
    fileprivate var isAlive: Bool {
        switch self {
        case .established, .tokenExpired(nil): true
        case .notLoggedIn, .establishing, .tokenExpired, .terminated: false
        }
    }
}

extension SessionPage {
    /// - Parameter grantEndsAt: When the grant ends however often it is renewed.
    /// - Parameter asOf: The last audit row that is in what was read.
    init(
        _ stored: StoredLogin, grantEndsAt: Timestamp?, asOf: Int64, _ options: SessionEventOptions, now: Timestamp
    ) {
        let session = stored.session
        self.init(
            login: stored.handle, user: stored.user, userID: stored.userID, state: SessionState(session, now: now),
            generation: stored.position.generation,
            tokenGeneration: session.accessGeneration ?? stored.position.generation,
            expiresAt: session.accessToken == nil ? nil : session.expiresAt, hasToken: session.accessToken != nil,
            asOf: asOf)
        guard stored.refresh?.refreshToken != nil,
            let ends = [stored.refresh?.refreshExpiresAt, grantEndsAt].compactMap(\.self).min()
        else { return }
        refreshEndsAt = ends
        // A refresh token that lives for a week is not announced to end on the day on which it came.
        let lead = min(options.refreshTokenWarningLead, max(.zero, ends.since(session.obtainedAt) / 4))
        refreshWarnsAt = ends.advanced(by: .zero - lead)
    }

    /// For who watches all logins: a warning whose time came before this token was told with the one before it.
    func forAllLogins(obtainedAt: Timestamp) -> SessionPage {
        var page = self
        page.hasWarnedOfRefresh = refreshWarnsAt.map { $0 < obtainedAt } ?? false
        return page
    }
}
