import VaultStorage

/// One login as the feed knows it, with the events reported for it so far. A value; it does no I/O.
struct WatchedLogin: Sendable {
    let login: LoginHandle
    let user: UserHandle
    let userId: String
    private(set) var state: SessionState
    /// The generation of the login.
    private(set) var generation: Int64
    /// The generation that brought the access token.
    private(set) var tokenGeneration: Int64
    private(set) var token: LoginSnapshot.Token?
    private(set) var refreshEnd: RefreshEnd?
    /// The events reported for this access token so far.
    private(set) var reported = Reported.nothing
    private(set) var hasWarnedOfRefresh = false
    /// Rows up to this one are included in the login as it was read.
    let asOf: Int64

    enum Reported: Int, Comparable, Sendable {
        case nothing, willExpire, expired

        static func < (left: Reported, right: Reported) -> Bool { left.rawValue < right.rawValue }
    }

    /// The login as it was read.
    init(
        login: LoginHandle, user: UserHandle, userId: String, _ look: LoginSnapshot, _ refreshEnd: RefreshEnd?,
        asOf: Int64
    ) {
        (self.login, self.user, self.userId, self.asOf) = (login, user, userId, asOf)
        state = look.state.map { SessionState($0) } ?? .notLoggedIn
        generation = look.generation
        token = look.token
        tokenGeneration = look.token?.generation ?? look.generation
        self.refreshEnd = refreshEnd
    }

    /// The login as it was before a row, if the feed did not know it.
    init(before row: SessionRow, userId: String, _ refreshEnd: RefreshEnd?) {
        (login, user, self.userId, asOf) = (row.login, row.user, userId, row.sequence - 1)
        state = !row.isNewState ? row.state : row.state == .notLoggedIn ? .established : .notLoggedIn
        generation = row.look?.generation ?? 1
        token = row.look?.token
        tokenGeneration = token?.generation ?? generation
        self.refreshEnd = refreshEnd
        hasWarnedOfRefresh = refreshEnd.map { $0.warnsAt <= row.time } ?? false
        if row.isNewToken || row.isFirst {
            tokenGeneration -= 1
        } else if row.state != .tokenExpired(nil) || !row.isNewState, let end = token?.expiresAt, end <= row.time {
            // It had expired before the row; reporting that was up to others.
            reported = .expired
        }
    }

    /// For subscribers to all logins, whose warning of the refresh token comes with the token that brought it.
    var withoutWarning: WatchedLogin {
        var login = self
        login.hasWarnedOfRefresh = true
        return login
    }

    /// Nil for a user who is gone.
    var knownUserId: String? { userId.isEmpty ? nil : userId }
}

// MARK: Rows

extension WatchedLogin {
    /// Returns the events of a row, in order: `updated` comes before what follows from the new token.
    mutating func take(
        _ row: SessionRow, _ refreshEnd: RefreshEnd?, _ options: SessionEventOptions
    ) -> [SessionEvent] {
        // The login was read after this row was written: the row's events are history.
        guard row.sequence > asOf else {
            return history(row) + (row.isNewState ? [event(.stateChanged(row.state), of: row)] : [])
        }
        generation = max(generation, row.look?.generation ?? generation)
        take(row.look?.token)
        take(refreshEnd)
        var events = history(row)
        // A token that had expired on arrival explains the state, and is reported before it.
        if token?.expiresAt.map({ $0 <= row.time }) ?? false { events += reportDue(row.time, options) }
        if let change = change(to: row.state, at: row.time) { events.append(change) }
        return events + reportDue(row.time, options)
    }

    private func history(_ row: SessionRow) -> [SessionEvent] {
        row.news.map { kind in
            var event = event(kind, of: row)
            event.answer = row.answer
            return event
        }
    }

    /// Takes another access token, or another end of the same one. Each generation brings one token.
    private mutating func take(_ next: LoginSnapshot.Token?) {
        if let next, next.generation > tokenGeneration {
            tokenGeneration = next.generation
            reported = .nothing
        } else if reported == .expired, let end = next?.expiresAt, end > token?.expiresAt ?? end {
            reported = .willExpire
        }
        token = next
    }

    private mutating func take(_ next: RefreshEnd?) {
        guard next?.endsAt != refreshEnd?.endsAt else { return }
        if let next, let refreshEnd, next.warnsAt > refreshEnd.warnsAt { hasWarnedOfRefresh = false }
        refreshEnd = next
    }
}

// MARK: Time

extension WatchedLogin {
    /// Returns the events due by `now`, in Twilio's order, each once per token; with the instants at which they came
    /// due.
    mutating func reportDue(_ now: Timestamp, _ options: SessionEventOptions) -> [SessionEvent] {
        var events = reportToken(now, options)
        if let end = token?.expiresAt, state == .established, end <= now,
            let change = change(to: .tokenExpired(nil), at: end)
        {
            events.append(change)
        }
        if !hasWarnedOfRefresh, let refreshEnd, refreshEnd.warnsAt <= now, state.isAlive {
            hasWarnedOfRefresh = true
            events.append(event(.refreshTokenWillExpire(at: refreshEnd.endsAt.date), at: now))
        }
        return events
    }

    private mutating func reportToken(_ now: Timestamp, _ options: SessionEventOptions) -> [SessionEvent] {
        guard let end = token?.expiresAt else { return [] }
        var events: [SessionEvent] = []
        let warnsAt = end.advanced(by: .zero - options.willExpireLead)
        if reported < .willExpire, warnsAt <= now {
            reported = .willExpire
            events.append(event(.willExpire(at: end.date), at: max(warnsAt, min(now, end))))
        }
        if reported < .expired, end <= now {
            reported = .expired
            events.append(event(.expired, at: end))
        }
        return events
    }

    /// The clock was set back, and the token is good again. Its end is not reported twice, but the state is.
    mutating func revive(_ now: Timestamp) -> [SessionEvent] {
        guard let end = token?.expiresAt, end > now, state == .tokenExpired(nil) else { return [] }
        return change(to: .established, at: now).map { [$0] } ?? []
    }

    /// The next instant at which there may be something to report.
    func nextDue(_ options: SessionEventOptions) -> Timestamp? {
        [nextOfToken(options), hasWarnedOfRefresh || !state.isAlive ? nil : refreshEnd?.warnsAt]
            .compactMap(\.self).min()
    }

    private func nextOfToken(_ options: SessionEventOptions) -> Timestamp? {
        guard let end = token?.expiresAt else { return nil }
        switch reported {
        case .nothing: return end.advanced(by: .zero - options.willExpireLead)
        case .willExpire: return end
        case .expired: return state == .established ? end : nil
        }
    }

    /// Whether an event is due by then, or a warning that no later token would give.
    func isDue(before horizon: Timestamp, _ options: SessionEventOptions) -> Bool {
        if nextOfToken(options).map({ $0 <= horizon }) ?? false { return true }
        guard !hasWarnedOfRefresh, state.isAlive, let refreshEnd else { return false }
        return refreshEnd.warnsAt <= max(horizon, token?.expiresAt ?? horizon)
    }
}

// MARK: Reading again

extension WatchedLogin {
    /// Replaces the earlier knowledge, because rows are missing. Reports a changed state.
    mutating func replace(_ old: WatchedLogin, _ now: Timestamp, _ options: SessionEventOptions) -> [SessionEvent] {
        if tokenGeneration == old.tokenGeneration { reported = old.reported }
        hasWarnedOfRefresh = old.hasWarnedOfRefresh
        let events = state == old.state ? [] : [event(.stateChanged(state), at: now)]
        return events + reportDue(now, options)
    }

    /// The login is gone, although no row said so.
    mutating func end(_ now: Timestamp) -> [SessionEvent] {
        token = nil
        refreshEnd = nil
        return change(to: .notLoggedIn, at: now).map { [$0] } ?? []
    }
}

// MARK: Events

extension WatchedLogin {
    private mutating func change(to next: SessionState, at time: Timestamp) -> SessionEvent? {
        guard next != state else { return nil }
        state = next
        return event(.stateChanged(next), at: time)
    }

    /// Timed events are about the access token, all others about the login.
    func event(_ kind: SessionEvent.Kind, at time: Timestamp) -> SessionEvent {
        event(kind, kind.isOfTime ? tokenGeneration : generation, at: time)
    }

    private func event(_ kind: SessionEvent.Kind, of row: SessionRow) -> SessionEvent {
        event(kind, row.look?.generation ?? generation, at: row.time)
    }

    private func event(_ kind: SessionEvent.Kind, _ generation: Int64, at time: Timestamp) -> SessionEvent {
        SessionEvent(
            kind, login: LoginID(login), userId: knownUserId, generation: Int(generation), date: time.date)
    }
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
