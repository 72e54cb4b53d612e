public import FoundationEssentials
public import OAuthClient

/// How a ``RenewalScheduler`` works.
public struct SchedulerOptions: Sendable {
    /// Renewals in progress at a time. A single provider gets at most three quarters of them, so that a slow one does
    /// not delay the others; its profile may allow less.
    public var concurrency: Int
    /// The longest pause before it checks the vault again: it then sees the changes of other processes. A check is one
    /// short query.
    public var longestPause: Duration
    /// Whether it also retries revocations that are due in the outbox.
    public var retriesRevocations: Bool
    /// How long rows of the audit trail are kept; nil: it prunes nothing.
    public var auditRetention: AuditRetention?
    /// Called for every login that was due and was checked. It must return soon: it delays one renewal.
    public var onRenewal: (@Sendable (ScheduledRenewal) -> Void)?

    public init(
        concurrency: Int = 16, longestPause: Duration = .seconds(2), retriesRevocations: Bool = true,
        auditRetention: AuditRetention? = .standard, onRenewal: (@Sendable (ScheduledRenewal) -> Void)? = nil
    ) {
        self.concurrency = max(1, concurrency)
        self.longestPause = max(.milliseconds(10), longestPause)
        self.retriesRevocations = retriesRevocations
        self.auditRetention = auditRetention
        self.onRenewal = onRenewal
    }
}

/// One login that was due.
public struct ScheduledRenewal: Sendable, Equatable {
    public let login: LoginID
    /// Nil: the app renews it.
    public let provider: String?
    public let outcome: RenewalOutcome
    /// Why the login is dead, if it is.
    public let failure: RefreshFailure?
    /// The provider's answer, if it refused this renewal.
    public let answer: ProviderAnswer?
    /// The obstacle, if nothing was sent.
    public let obstacle: VaultError?
    /// When its access token now expires; nil: unknown, or there is none.
    public let expiresAt: Date?
    /// When it is checked next, at the earliest; nil: there is nothing left to do for it.
    public let nextDue: Date?
}

/// The work of a ``RenewalScheduler`` so far.
public struct SchedulerReport: Sendable, Equatable {
    /// How often logins that were due had this outcome.
    public internal(set) var outcomes: [RenewalOutcome: Int] = [:]
    public internal(set) var revocationsTried = 0
    public internal(set) var revocationsSettled = 0
    /// Old rows of the audit trail that it removed.
    public internal(set) var auditEntriesRemoved = 0

    public var renewed: Int { outcomes[.renewed] ?? 0 }
    /// Renewals that failed, for any reason.
    public var failed: Int { outcomes.reduce(0) { $0 + ($1.key.isFailure ? $1.value : 0) } }
}
