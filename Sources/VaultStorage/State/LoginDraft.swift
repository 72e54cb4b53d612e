/// A login to insert. The user is created if the vault has none with this id.
package struct LoginDraft: Sendable {
    package var userId: String
    /// The user when the log-in began, who may have been erased since. Nil: any.
    package var user: UserHandle?
    package var provider: ProviderHandle?
    package var session: SessionRecord
    package var refresh: RefreshRecord?
    package var key: KeyRecord?
    /// When the scheduler should check the login.
    package var dueAt: Timestamp?
    /// Computes ``dueAt`` where it depends on the handle that the login gets.
    package var schedule: (@Sendable (LoginHandle) -> Timestamp?)?
    /// ``AuditKind/loginCreated`` is added when there are none.
    package var auditEvents: [AuditEvent] = []

    package init(
        userId: String, provider: ProviderHandle?, session: SessionRecord, refresh: RefreshRecord? = nil,
        key: KeyRecord? = nil, dueAt: Timestamp? = nil
    ) {
        self.userId = userId
        self.provider = provider
        self.session = session
        self.refresh = refresh
        self.key = key
        self.dueAt = dueAt
    }

    package func dueAt(of login: LoginHandle) -> Timestamp? { schedule.map { $0(login) } ?? dueAt }
}
