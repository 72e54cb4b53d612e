/// A login as a write transaction sees it: freshly read, authenticated, and the caller's to change.
///
/// What the body leaves behind is written in the same transaction, with its audit rows: only changed cells are sealed
/// anew; a body that changes nothing but ``intent``, ``auditEvents`` or ``outbox`` leaves the login's row as it is.
/// A login whose ``position`` enters a new chain enters the vault's current incarnation with it.
package struct LoginState: Sendable {
    package let handle: LoginHandle
    package let user: UserHandle
    package let userId: String
    package let userStatus: UserStatus
    package let provider: ProviderHandle?
    package let incarnation: Int64
    /// Whether the login is of an older incarnation than the vault: its refresh token must not be sent.
    package let isHeld: Bool
    package let revision: Int64

    package var position: ChainPosition
    package var dueAt: Timestamp?
    package var session: SessionRecord
    package var refresh: RefreshRecord?
    package var key: KeyRecord?
    /// Set to `nil` to close it; opened by ``openIntent(owner:at:)``.
    package var intent: IntentRecord?
    /// The login enters the vault's current incarnation: it is no longer held.
    package var isAccepted = false
    /// The login, its cells and its intent are deleted.
    package var isRemoved = false
    /// Told in this order. ``AuditKind/loginChanged`` is added when something changed and there are none.
    package var auditEvents: [AuditEvent] = []
    /// Revocations to be queued in the same transaction, due at once.
    package var outbox: [OutboxRecord] = []
    /// How logins of its provider have ended of late, if that was asked for.
    package var endings: ProviderEndings?
    /// What is to be told of its provider.
    package var providerEvents: [AuditEvent] = []

    /// Whether only the operator's word is missing for it to be renewed again.
    package var isHeldByRestore: Bool { isHeld && !session.isHeldBySource }

    /// The fence that an intent opened in this transaction gets.
    let nextFence: Int64

    /// Notes that `owner` is about to spend the refresh token of the current generation; replaces an open intent.
    ///
    /// - Parameters:
    ///   - doubtSince: set when the intent replaces one that was in doubt.
    ///   - tries: requests that have been sent for this generation before.
    @discardableResult
    package mutating func openIntent(
        owner: Int64, at now: Timestamp, doubtSince: Timestamp? = nil, tries: Int = 0
    ) -> IntentRecord {
        let opened = IntentRecord(
            fence: nextFence, generation: position.generation, owner: owner, startedAt: now,
            doubtSince: doubtSince, tries: tries)
        intent = opened
        return opened
    }
}
