/// A user with all his logins, as a write transaction sees them.
package struct UserState: Sendable {
    package let handle: UserHandle
    package let id: String
    package let revision: Int64
    package let createdAt: Timestamp

    package var status: UserStatus
    /// To be changed in place; each may be marked removed. Adding or dropping elements changes nothing.
    package var logins: [LoginState]
    /// Logins of the user that cannot be opened, or whose rows are missing. They stay as they are, unless the user is
    /// erased: then they go too, and what they held can no longer be revoked.
    package let damagedLogins: [LoginHandle]
    /// Crypto-shredding: the user's data key and all his rows are destroyed. Audit rows keep random handles only.
    package var isErased = false
    /// About the user as a whole; those of a login stand in its own state.
    package var auditEvents: [AuditEvent] = []
    package var outbox: [OutboxRecord] = []
}
