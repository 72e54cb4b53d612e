public import FoundationEssentials
public import OAuthClient

/// How a ``RenewalScheduler`` works.
public struct SchedulerOptions: Sendable {
    /// Renewals that it has under way at a time. A single provider gets at most three quarters of them, so that a slow
    /// one does not hold up the others; its profile may allow less.
    public var concurrency: Int
    /// After so long it looks again, whatever it expects: what other processes have written is seen then. A look at the vault
    /// is one short query.
    public var longestPause: Duration
    /// Whether it also retries revocations that are due in the outbox.
    public var retriesRevocations: Bool
    /// How long rows of the audit trail are kept; nil: it prunes nothing.
    public var auditRetention: AuditRetention?
    /// Called for every login that was due and was looked at. It must return soon: it holds up one renewal.
    package var onRenewal: (@Sendable (ScheduledRenewal) -> Void)?

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
package struct ScheduledRenewal: Sendable, Equatable {
    package let login: LoginID
    /// Nil: the app renews it.
    package let provider: String?
    package let outcome: RenewalOutcome
    /// Why the login is dead, if it is.
    package let failure: RefreshFailure?
    /// What the provider said, if it refused this renewal.
    package let answer: ProviderAnswer?
    /// What stood in the way, if nothing was sent.
    package let obstacle: VaultError?
    /// When its access token now expires; nil: unknown, or there is none.
    package let expiresAt: Date?
    /// When it is looked at next, at the earliest; nil: there is nothing left to do for it.
    package let nextDue: Date?
}

/// What a ``RenewalScheduler`` has done so far.
package struct SchedulerReport: Sendable, Equatable {
    /// How often logins that were due came to this end.
    package internal(set) var outcomes: [RenewalOutcome: Int] = [:]
    package internal(set) var revocationsTried = 0
    package internal(set) var revocationsSettled = 0
    /// Old rows of the audit trail that it removed.
    package internal(set) var auditEntriesRemoved = 0

    package var renewed: Int { outcomes[.renewed] ?? 0 }
    /// Renewals that did not succeed, for whatever reason.
    package var failed: Int { outcomes.reduce(0) { $0 + ($1.key.isFailure ? $1.value : 0) } }
}
