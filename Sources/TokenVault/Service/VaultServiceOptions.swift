/// What a ``VaultService`` does in the background, and how its parts work.
public struct VaultServiceOptions: Sendable {
    public var vault: VaultOptions
    public var users: UserManagerOptions
    /// How tokens are renewed ahead of time. Nil: only when a call needs one.
    public var scheduler: SchedulerOptions?
    /// Nil: this process makes no backups.
    public var backups: BackupSchedule?
    /// When the root key is rotated. Nil: not by this process.
    public var rootKey: RootKeySchedule?
    /// Who is told of deaths, needs for a user and recoveries, at least once over restarts.
    public var observers: [any LoginObserver]

    public init(
        vault: VaultOptions = .init(), users: UserManagerOptions = .init(), scheduler: SchedulerOptions? = .init(),
        backups: BackupSchedule? = nil, rootKey: RootKeySchedule? = nil, observers: [any LoginObserver] = []
    ) {
        self.vault = vault
        self.users = users
        self.scheduler = scheduler
        self.backups = backups
        self.rootKey = rootKey
        self.observers = observers
    }
}
