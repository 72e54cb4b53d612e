/// A login in a write transaction: freshly read, authenticated, and the caller's to change.
///
/// The final value is written in the same transaction, with its audit rows, and only changed cells are resealed. A body
/// that changes only ``intent``, ``auditEvents`` or ``outbox`` leaves the login's row as it is. A login whose
/// ``position`` enters a new chain also enters the vault's current incarnation.
package struct LoginState: Sendable {
    package let handle: LoginHandle
    package let user: UserHandle
    package let userId: String
    package let userStatus: UserStatus
    package let provider: ProviderHandle?
    package let incarnation: Int64
    /// The chain whose refresh token must not be sent, because the login is of an older incarnation than the vault.
    let heldChain: Int64?
    package let revision: Int64

    package var position: ChainPosition
    package var dueAt: Timestamp?
    package var session: SessionRecord
    package var refresh: RefreshRecord?
    package var key: KeyRecord?
    /// Set to `nil` to close it; opened by ``openIntent(owner:at:)``.
    package var intent: IntentRecord?
    /// Whether the login enters the vault's current incarnation, so that it is no longer held.
    package var isAccepted = false
    /// Whether the login, its cells and its intent are deleted.
    package var isRemoved = false
    /// Recorded in this order. ``AuditKind/loginChanged`` is added if something changed and there are no events.
    package var auditEvents: [AuditEvent] = []
    /// Revocations to queue in the same transaction, due at once.
    package var outbox: [OutboxRecord] = []
    /// The recent ends of logins of the provider, if requested.
    package var endings: ProviderEndings?
    /// Events to record about the provider.
    package var providerEvents: [AuditEvent] = []

    /// Whether the refresh token must not be sent. A new chain is not held.
    package var isHeld: Bool { heldChain == position.chain }

    /// Whether the login needs only the operator's consent to be renewed again.
    package var isHeldByRestore: Bool { isHeld && !session.isHeldBySource }

    /// The fence that an intent opened in this transaction gets.
    let nextFence: Int64

    /// Notes that `owner` is about to spend the refresh token of the current generation. Replaces an open intent.
    ///
    /// - Parameters:
    ///   - doubtSince: set when the intent replaces one that was in doubt.
    ///   - tries: the number of requests already sent for this generation.
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
