// What the store adds by itself to the rows about a login, so that whoever reads the trail can follow what the app sees
// of it without another look at the login. Whoever appends rows adds nothing of this.
extension AuditEvent.Detail {
    /// The keys that ``LoginState/tale(since:hasChanged:at:)`` writes. Stored: never renamed.
    package enum Key {
        /// How many links of the chain are stored after what the row tells.
        package static let generation = "generation"
        /// When the new access token runs out, in milliseconds since 1970; `unknown`; or `none`: there is no token any
        /// more. Only in rows that changed the login's own access token or its expiry.
        package static let expires = "expires"
        /// What the login looked like before, as ``SessionLook/name``. Only in rows that changed it.
        package static let was = "was"
        /// When the login died, in milliseconds since 1970.
        package static let since = "since"
        /// The code of the reason for which the login was ended.
        package static let ended = "ended"
    }

    package static let unknownExpiry = "unknown"
    package static let noToken = "none"
    /// The `cause` of a removal that came with the end of its user.
    package static let userErased = "userErased"
}

extension AuditEvent {
    /// The value of a detail.
    package func value(_ key: String) -> String? { detail.first { $0.key == key }?.value }

    fileprivate mutating func add(_ key: String, _ value: String?) {
        guard let value, self.value(key) == nil else { return }
        self = AuditEvent(kind, detail + [Detail(key, value)])
    }
}

extension AuditEvent {
    /// Whether the row is about the login's own access token; one for a resource is told with `for`.
    fileprivate var tellsOfOwnToken: Bool {
        kind == .tokenUpdated || kind == .loginRevived || kind == .renewed && value("for") == nil
    }
}

extension AuditEntry {
    /// The value of a detail.
    package func value(_ key: String) -> String? { detail.first { $0.key == key }?.value }

    /// The value of a detail that is a number.
    package func number(_ key: String) -> Int64? { value(key).flatMap { Int64($0) } }
}

extension AuditKind {
    /// Rows that say where the login stands. The others change nothing that the app sees; that they carry no cell keeps
    /// the beginning of a renewal, and an import, cheap.
    fileprivate var tellsPosition: Bool {
        switch self {
        case .loginChanged, .renewed, .renewalFailed, .renewalInDoubt, .renewalPostponed, .tokenUpdated, .tokenRejected,
            .loginDead, .loginRevived, .loggedOut, .loginRemoved:
            true
        default: false
        }
    }
}

extension LoginState {
    /// What is told of the login; a change is never left untold. The last row that says where the login stands also says
    /// what became of its token and of how it looks.
    ///
    /// - Parameter before: The login as the transaction found it.
    package func tale(since before: LoginState, hasChanged: Bool, at now: Timestamp) -> [AuditEvent] {
        var events = auditEvents
        if events.isEmpty, hasChanged { events = [AuditEvent(isRemoved ? .loginRemoved : .loginChanged)] }
        for index in events.indices where events[index].kind.tellsPosition {
            events[index].add(AuditEvent.Detail.Key.generation, String(position.generation))
        }
        guard hasChanged, let last = events.lastIndex(where: \.kind.tellsPosition) else { return events }
        tellChange(since: before, at: now, in: &events[last])
        return events
    }

    private func tellChange(since before: LoginState, at now: Timestamp, in event: inout AuditEvent) {
        let (look, earlier) = (SessionLook(session, at: now), SessionLook(before.session, at: now))
        if isRemoved || look != earlier { event.add(AuditEvent.Detail.Key.was, earlier.name) }
        guard !isRemoved else { return }
        // Who sets the same token once more has set a token.
        let hasAnotherToken =
            session.accessToken != before.session.accessToken || session.expiresAt != before.session.expiresAt
        if hasAnotherToken || event.tellsOfOwnToken { event.add(AuditEvent.Detail.Key.expires, session.expiryText) }
        switch look {
        case .refreshFailed(let failure):
            if look != earlier { event.add(AuditEvent.Detail.Key.since, String(failure.at.milliseconds)) }
        case .terminated(let reason):
            if look != earlier { event.add(AuditEvent.Detail.Key.ended, String(reason)) }
        case .established, .tokenExpired, .establishing: break
        }
    }
}

extension SessionRecord {
    fileprivate var expiryText: String {
        guard accessToken != nil else { return AuditEvent.Detail.noToken }
        return expiresAt.map { String($0.milliseconds) } ?? AuditEvent.Detail.unknownExpiry
    }
}
