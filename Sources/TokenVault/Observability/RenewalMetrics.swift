import Metrics
import Synchronization

/// The figures of one ``UserManager``; listed in `docs/observability.md`.
///
/// Labels are bounded: an outcome, a reason, a provider's name. Never a user, never a login.
final class RenewalMetrics: Sendable {
    private struct Key: Hashable {
        let label: String
        let provider: String
        let detail: String
    }

    private struct Made {
        var counters: [Key: Counter] = [:]
        var timers: [String: Timer] = [:]
    }

    private let factory: (any MetricsFactory)?
    private let made = Mutex(Made())
    private let gauges = Mutex<[String: Gauge]>([:])

    /// - Parameter factory: nil for the one that the process has chosen.
    init(_ factory: (any MetricsFactory)?) {
        self.factory = factory
    }

    private var source: any MetricsFactory { factory ?? MetricsSystem.factory }

    /// Counts a renewal that got as far as an attempt.
    func renewed(_ outcome: RenewalOutcome, provider: String, took: Duration) {
        count("token_vault_renewals", provider, "outcome", outcome.description)
        let timer = made.withLock { made in
            if let timer = made.timers[provider] { return timer }
            let timer = Timer(
                label: "token_vault_renewal_duration", dimensions: [("provider", provider)], factory: source)
            made.timers[provider] = timer
            return timer
        }
        timer.record(took)
    }

    /// Counts a request for a token of the client itself.
    func fetched(_ outcome: RenewalOutcome, provider: String) {
        count("token_vault_client_tokens", provider, "outcome", outcome.description)
    }

    func dead(_ reason: RefreshFailure.Reason, provider: String) {
        count("token_vault_logins_dead", provider, "reason", reason.description)
    }

    private func count(_ label: String, _ provider: String, _ name: String, _ detail: String) {
        let key = Key(label: label, provider: provider, detail: detail)
        let counter = made.withLock { made in
            if let counter = made.counters[key] { return counter }
            let counter = Counter(label: label, dimensions: [("provider", provider), (name, detail)], factory: source)
            made.counters[key] = counter
            return counter
        }
        counter.increment()
    }

    func set(_ gauge: SchedulerGauge, to value: Double) {
        let gauge = gauges.withLock { gauges in
            if let made = gauges[gauge.rawValue] { return made }
            let made = Gauge(label: gauge.rawValue, dimensions: [], factory: source)
            gauges[gauge.rawValue] = made
            return made
        }
        gauge.record(value)
    }
}

/// Periodic measurements of the scheduler. They concern the whole vault, so one process that runs it is enough.
enum SchedulerGauge: String, Sendable {
    /// Seconds since the longest overdue login became due.
    case lag = "token_vault_scheduler_lag_seconds"
    case flights = "token_vault_scheduler_renewals_under_way"
    case openRenewals = "token_vault_renewals_open"
    case inDoubt = "token_vault_renewals_in_doubt"
    case outbox = "token_vault_outbox_depth"
    /// Replies that could not be stored yet, of this process and of ended ones.
    case spool = "token_vault_spool_depth"
    /// The age of the state in the last finished backup. Not set before there is one.
    case backupAge = "token_vault_backup_age_seconds"
}

extension Timer {
    /// In whole milliseconds.
    func record(_ time: Duration) {
        recordNanoseconds(max(0, time.inMilliseconds).multipliedReportingOverflow(by: 1_000_000).partialValue)
    }
}
