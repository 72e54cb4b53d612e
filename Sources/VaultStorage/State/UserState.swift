/// A user with all logins in a write transaction.
package struct UserState: Sendable {
    package let handle: UserHandle
    package let id: String
    package let revision: Int64
    package let createdAt: Timestamp

    package var status: UserStatus
    /// Change these in place; each may be marked removed. Adding or dropping elements has no effect.
    package var logins: [LoginState]
    /// Logins of the user that cannot be opened, or whose rows are missing. They stay as they are unless the user is
    /// erased. Then they go too, and their tokens can no longer be revoked.
    package let damagedLogins: [LoginHandle]
    /// Whether the user is erased (crypto-shredding): the user's data key and all rows are destroyed. Audit rows keep
    /// only random handles.
    package var isErased = false
    /// Events about the user as a whole. Those of a login are in the login's own state.
    package var auditEvents: [AuditEvent] = []
    package var outbox: [OutboxRecord] = []
}
