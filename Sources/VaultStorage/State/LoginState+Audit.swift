// The store adds the state of a login to its audit rows, so that no writer can forget it.

extension AuditKind {
    /// Rows that hold the state of the login. The other rows change nothing that the app sees. They have no cell, which
    /// keeps the start of a renewal cheap.
    fileprivate var holdsLook: Bool {
        switch self {
        case .loginCreated, .loginChanged, .renewed, .renewalFailed, .renewalInDoubt, .renewalPostponed, .tokenUpdated,
            .tokenRejected, .loginDead, .loginRevived, .loggedOut, .loginRemoved, .loginImported, .importFollowed,
            .loggedInAgain, .loginTerminated:
            true
        default: false
        }
    }
}

extension [AuditEvent] {
    /// Adds the state to the events. Only the last one says whether the state is new, so that it counts once.
    ///
    /// - Parameter ended: the fence of the renewal that ended with them.
    func holding(
        _ look: LoginSnapshot, isNew: Bool, of provider: ProviderHandle?, ended: Int64? = nil
    ) -> [AuditEvent] {
        var (events, look) = (self, look)
        look.isNew = isNew
        if let last = events.lastIndex(where: \.kind.holdsLook) { events[last].fence = ended }
        for index in events.indices.reversed() where events[index].kind.holdsLook {
            events[index].look = look
            (look.isNew, look.isRecovery) = (false, false)
        }
        return events.naming(provider)
    }

    fileprivate func naming(_ provider: ProviderHandle?) -> [AuditEvent] {
        map { event in
            var event = event
            event.provider = provider
            return event
        }
    }
}

extension LoginState {
    /// The audit rows of a change. No change is left unrecorded.
    ///
    /// - Parameters:
    ///   - before: The session at the start of the transaction.
    ///   - open: The renewal that was open at that time.
    func auditEvents(
        since before: SessionRecord, _ open: IntentRecord?, hasChanged: Bool, at now: Timestamp
    ) -> [AuditEvent] {
        var events = auditEvents
        if events.isEmpty, hasChanged { events = [AuditEvent(isRemoved ? .loginRemoved : .loginChanged)] }
        guard events.contains(where: \.kind.holdsLook) else { return events.naming(provider) }
        var look = look(at: now)
        look.isRecovery = !isRemoved && before.isObstructed && !session.isObstructed
        let ended = open.flatMap { $0.fence == intent?.fence ? nil : $0.fence }
        return events.holding(look, isNew: look.state != SessionSummary(before, at: now), of: provider, ended: ended)
    }

    private func look(at now: Timestamp) -> LoginSnapshot {
        guard !isRemoved else { return LoginSnapshot(state: nil, generation: position.generation) }
        return LoginSnapshot(position: position, session: session, refresh: refresh, provider: provider, at: now)
    }
}
