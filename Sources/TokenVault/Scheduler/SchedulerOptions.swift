package import FoundationEssentials
package import OAuthClient

/// How a ``RenewalScheduler`` works.
public struct SchedulerOptions: Sendable {
    /// Renewals in progress at a time. A single provider gets at most three quarters of them, so that a slow one does
    /// not delay the others; its profile may allow less.
    public var concurrency: Int
    /// The longest pause before it checks the vault again: it then sees the changes of other processes. A check is one
    /// short query.
    package var longestPause: Duration
    /// Whether it also retries revocations that are due in the outbox.
    package var retriesRevocations: Bool
    /// How long rows of the audit trail are kept; nil: it prunes nothing.
    package var auditRetention: AuditRetention?
    /// Called for every login that was due and was checked. It must return soon: it delays one renewal.
    package var onRenewal: (@Sendable (ScheduledRenewal) -> Void)?

    /// - Parameters:
    ///   - concurrency: Renewals in progress at a time.
    ///   - longestPause: The longest pause before it checks the vault again.
    ///   - retriesRevocations: Whether it also retries revocations that are due in the outbox.
    ///   - auditAge: The age at which rows of the audit trail are removed, 90 days by default; nil: it prunes nothing. The newest
    ///     1 000 rows stay at any age.
    public init(
        concurrency: Int = 16, longestPause: Duration = .seconds(2), retriesRevocations: Bool = true,
        auditAge: Duration? = .seconds(90 * 86_400)
    ) {
        self.concurrency = max(1, concurrency)
        self.longestPause = max(.milliseconds(10), longestPause)
        self.retriesRevocations = retriesRevocations
        auditRetention = auditAge.map { AuditRetention(age: $0) }
    }

    package init(
        concurrency: Int = 16, longestPause: Duration? = nil, auditRetention: AuditRetention? = .standard,
        onRenewal: (@Sendable (ScheduledRenewal) -> Void)?
    ) {
        self.init(concurrency: concurrency)
        self.auditRetention = auditRetention
        if let longestPause { self.longestPause = longestPause }
        self.onRenewal = onRenewal
    }
}

/// One login that was due.
package struct ScheduledRenewal: Sendable, Equatable {
    package let login: LoginID
    /// Nil: the app renews it.
    package let provider: String?
    package let outcome: RenewalOutcome
    /// Why the login is dead, if it is.
    package let failure: RefreshFailure?
    /// The provider's answer, if it refused this renewal.
    package let answer: ProviderAnswer?
    /// The obstacle, if nothing was sent.
    package let obstacle: VaultError?
    /// When its access token now expires; nil: unknown, or there is none.
    package let expiresAt: Date?
    /// When it is checked next, at the earliest; nil: there is nothing left to do for it.
    package let nextDue: Date?
}

/// The work of a ``RenewalScheduler`` so far.
package struct SchedulerReport: Sendable, Equatable {
    /// How often logins that were due had this outcome.
    package internal(set) var outcomes: [RenewalOutcome: Int] = [:]
    package internal(set) var revocationsTried = 0
    package internal(set) var revocationsSettled = 0
    /// Old rows of the audit trail that it removed.
    package internal(set) var auditEntriesRemoved = 0

    package var renewed: Int { outcomes[.renewed] ?? 0 }
    /// Renewals that failed, for any reason.
    package var failed: Int { outcomes.reduce(0) { $0 + ($1.key.isFailure ? $1.value : 0) } }
}
