import Synchronization
import VaultStorage

/// The time of one renewal, from its first request to the last reply: repeats, nonce challenges and introspection
/// included. `docs/adr/0045-give-each-renewal-one-time-budget.md`
final class RenewalBudget: Sendable {
    /// A request with less time than this is not begun: a reply that is cut off is worth less than none.
    static let leastForRequest = Duration.seconds(10)

    private let startedAt = Mutex<Duration?>(nil)

    /// Records that something is about to be sent. Only the first time counts.
    func begin(uptime: Duration) {
        startedAt.withLock { startedAt in
            if startedAt == nil { startedAt = uptime }
        }
    }

    func left(of total: Duration, uptime: Duration) -> Duration {
        guard let start = startedAt.withLock({ $0 }) else { return total }
        return total - (uptime - start)
    }
}

extension Renewal {
    func timeLeft(_ attempt: RenewalAttempt?) -> Duration {
        let total = (attempt?.policy ?? ReplayPolicy()).budget(atMost: vault.store.longestRenewal)
        return budget.left(of: total, uptime: vault.timeSource.uptime())
    }

    /// Whether there is time for one more request, after a pause.
    func hasTimeForRequest(_ attempt: RenewalAttempt, after pause: Duration = .zero) -> Bool {
        timeLeft(attempt) - pause >= RenewalBudget.leastForRequest
    }
}
