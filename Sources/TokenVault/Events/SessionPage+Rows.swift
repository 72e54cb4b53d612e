import VaultStorage

extension SessionPage {
    /// What a row tells of this login, in order. `updated` comes before what follows from the new token.
    ///
    /// - Parameter isKnown: The page was read after the row was written: nothing of it is news to the page.
    mutating func take(_ row: SessionRow, _ options: SessionEventOptions) -> [SessionEvent] {
        let isKnown = row.sequence <= asOf
        var events: [SessionEvent] = []
        let number = row.generation ?? generation
        if !isKnown { generation = max(generation, number) }
        switch row.fact {
        case .created:
            // The page was read for this row, and shows the login as it is now.
            events.append(told(.stateChanged(state), row, 1))
            events += tellDue(row.time, options)
        case .token(let expiry, let isNew, let scope):
            if isNew { events.append(told(.updated, row, number)) }
            if let scope { events.append(told(.scopeChanged(isNarrower: scope == .narrower), row, number)) }
            guard !isKnown else { return events }
            hasToken = expiry != .noToken
            take(expiry, generation: number)
            let isPast = expiry.hasPassed(at: row.time)
            // The state follows from the end of the token, so it comes after it.
            if isPast { events += tellDue(row.time, options) }
            // A dead login that loses its token, or learns of its end, is as dead as before.
            if isNew || state.isReplaceable {
                change(isPast ? .staleTokenStored : .tokenStored, at: row.time, &events)
            }
            if !isPast { events += tellDue(row.time, options) }
        case .revived(let expiry):
            guard !isKnown else { return events }
            change(expiry.hasPassed(at: row.time) ? .staleTokenStored : .tokenStored, at: row.time, &events)
        case .died(let failure):
            events.append(told(.refreshFailed(failure), row, number))
            if !isKnown { change(.died(failure), at: row.time, &events) }
        case .ended(let reason):
            guard !isKnown else { return events }
            forgetTokens()
            change(.ended(reason), at: row.time, &events)
        case .removed(let reason):
            forgetTokens()
            change(reason.map { .ended($0) } ?? .removed, at: row.time, &events)
        case .obstacle(let code):
            events.append(told(.error(code), row, number))
        }
        return events
    }

    private mutating func forgetTokens() {
        expiresAt = nil
        refreshEndsAt = nil
        hasToken = false
    }

    private func told(_ kind: SessionEvent.Kind, _ row: SessionRow, _ generation: Int64) -> SessionEvent {
        var event = SessionEvent(
            kind, login: LoginID(login), userID: knownUserID, generation: Int(generation), date: row.time.date)
        event.answer = row.answer
        return event
    }
}

extension SessionState {
    fileprivate var isReplaceable: Bool { self == .established || self == .tokenExpired(nil) }
}

extension SessionPage {
    /// Of a login that is not watched by name: what one row tells of it.
    init(_ row: SessionRow, userID: String) {
        let state: SessionState =
            switch row.fact {
            // The row would say so if the login had looked different before.
            case .token(let expiry, _, _): expiry.hasPassed(at: row.time) ? .tokenExpired(nil) : .established
            default: .established
            }
        let generation = row.generation ?? 1
        self.init(
            login: row.login, user: row.user, userID: userID, state: row.stateBefore ?? state, generation: generation,
            tokenGeneration: generation - 1, asOf: row.sequence - 1)
    }
}
