package import VaultCrypto
package import VaultStorage

/// The session in all shapes of a stored login: the hot read, the whole row, and the row in a transaction.
package protocol StoredSession {
    var position: ChainPosition { get }
    var session: SessionRecord { get }
    var userStatus: UserStatus { get }
    var isHeld: Bool { get }
}

/// The further columns of the whole row.
package protocol LoginRow: StoredSession {
    var handle: LoginHandle { get }
    var userId: String { get }
    var provider: ProviderHandle? { get }
    var refresh: RefreshRecord? { get }
    var key: KeyRecord? { get }
    var intent: IntentRecord? { get }
}

extension SessionSnapshot: StoredSession {}
extension StoredLogin: LoginRow {}
extension LoginState: LoginRow {}

extension StoredSession {
    /// Whether the login can be used: its user is not disabled, and it is neither ended nor dead.
    package var isLiving: Bool { userStatus == .active && session.isLiving }

    /// Refuses a login that is ended, and every one of a disabled user.
    func requireActive(now: Timestamp) throws { try session.requireActive(userStatus, now: now) }

    /// As ``requireActive(now:)``; refuses one that is held, too.
    package func requireUnheld(now: Timestamp) throws {
        try requireActive(now: now)
        if isHeld { throw session.isHeldBySource ? .heldBySource : VaultError(.held, now: now) }
    }
}

extension SessionRecord {
    /// See ``StoredSession/requireActive(now:)``. The hot read calls this one: through the protocol the whole record
    /// would be copied.
    @inline(__always)
    func requireActive(_ userStatus: UserStatus, now: @autoclosure () -> Timestamp) throws {
        if userStatus == .disabled { throw VaultError(.userDisabled, now: now()) }
        if state == .terminated { throw VaultError(.terminated, now: now()) }
    }

    /// Whether the login has no valid access token of its own.
    package func hasExpired(at now: Timestamp) -> Bool {
        accessToken == nil || expiresAt.map { $0 <= now } ?? false
    }

    /// The login's own access token, if it has not expired.
    package func livingAccessToken(at now: Timestamp) -> SecretBytes? { hasExpired(at: now) ? nil : accessToken }
}
