import VaultCrypto

/// A login's row with all its cells open.
struct OpenLogin {
    var columns: LoginColumns
    var session: SessionRecord
    var refresh: RefreshRecord?
    var key: KeyRecord?
    var intent: IntentRecord?

    func stored(user: UserHandle, userId: String, status: UserStatus, _ context: VaultContext) -> StoredLogin {
        StoredLogin(
            handle: columns.handle, user: user, userId: userId, userStatus: status, provider: columns.provider,
            position: columns.position, revision: columns.revision, incarnation: columns.incarnation,
            isHeld: columns.incarnation < context.incarnation, dueAt: columns.dueAt, session: session,
            refresh: refresh, key: key, intent: intent)
    }

    func state(of user: OpenUser, _ context: VaultContext, nextFence: Int64) -> LoginState {
        LoginState(
            handle: columns.handle, user: user.columns.handle, userId: user.id, userStatus: user.status,
            provider: columns.provider, incarnation: columns.incarnation,
            heldChain: columns.incarnation < context.incarnation ? columns.position.chain : nil,
            revision: columns.revision, position: columns.position, dueAt: columns.dueAt, session: session,
            refresh: refresh, key: key, intent: intent, nextFence: nextFence)
    }
}

extension OpenLogin {
    /// The audit rows of a login that was just made.
    func auditEvents(of draft: LoginDraft, at now: Timestamp) -> [AuditEvent] {
        let events = draft.auditEvents.isEmpty ? [AuditEvent(.loginCreated)] : draft.auditEvents
        return events.holding(
            LoginSnapshot(
                position: columns.position, session: session, refresh: refresh, provider: columns.provider, at: now),
            isNew: true, of: columns.provider)
    }
}
