/// The background work of a ``VaultService``, and the settings of its parts.
public struct VaultServiceOptions: Sendable {
    public var vault: VaultOptions
    public var users: UserManagerOptions
    /// How tokens are renewed ahead of time. Nil: only when a call needs one.
    public var scheduler: SchedulerOptions?
    /// Nil: this process makes no backups.
    public var backups: BackupSchedule?
    /// How old the root key becomes before it is rotated: at least a day. Nil: this process does not rotate it.
    public var rootKeyInterval: Duration?
    /// Observers, which are notified of dead logins, of logins that need the user and of recoveries: once over all
    /// processes, also across restarts. Each has a name of its own.
    public var observers: [any LoginObserver]
    package var newObserversBeginAfter: EventCursor?

    /// - Parameters:
    ///   - vault: See ``vault``.
    ///   - users: See ``users``.
    ///   - scheduler: See ``scheduler``.
    ///   - backups: See ``backups``.
    ///   - rootKeyInterval: See ``rootKeyInterval``.
    ///   - observers: See ``observers``.
    ///   - newObserversBeginAfter: Where an observer begins whose name the vault does not know yet; nil: with events from now
    ///     on. ``EventCursor/start``: with all that the vault still has.
    public init(
        vault: VaultOptions = .init(), users: UserManagerOptions = .init(), scheduler: SchedulerOptions? = .init(),
        backups: BackupSchedule? = nil, rootKeyInterval: Duration? = nil, observers: [any LoginObserver] = [],
        newObserversBeginAfter: EventCursor? = nil
    ) {
        self.vault = vault
        self.users = users
        self.scheduler = scheduler
        self.backups = backups
        self.rootKeyInterval = rootKeyInterval
        self.observers = observers
        self.newObserversBeginAfter = newObserversBeginAfter
    }
}
