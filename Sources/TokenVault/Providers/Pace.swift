import Synchronization
import VaultStorage

/// What the last replies of each provider mean for logins that are not urgent, whether the scheduler or recovery renews
/// them: what one of them has found out, the others need not. Callers add to it and are not held up by it: their own
/// login decides.
///
/// In memory, by a clock that is never set: another process finds out with one request of its own.
final class ProviderPaces: Sendable {
    private struct Pace {
        var heldUntil = Duration.zero
        /// Failures in a row that say nothing about a login.
        var setbacks = 0
        /// Whose they were, until there are enough of them: the troubles of one login are not its provider's.
        var troubled: Set<LoginHandle> = []
        /// Renewals of scheduler and recovery.
        var underWay = 0

        var isInTrouble: Bool { troubled.count >= ProviderPaces.patience }

        mutating func failed(_ login: LoginHandle) {
            // One login may fail as often as it likes. Once several have, each failure counts.
            if isInTrouble || troubled.insert(login).inserted { setbacks += 1 }
        }

        mutating func succeeded() {
            setbacks = 0
            troubled = []
        }
    }

    /// After failures of so many different logins in a row the provider is taken to be in trouble: it gets one request
    /// at a time, after pauses.
    static let patience = 3

    private let paces = Mutex<[ProviderHandle: Pace]>([:])

    /// What a renewal came to.
    func note(
        _ ending: RenewalMachine.Ending, of login: LoginHandle, at provider: ProviderHandle, uptime: Duration,
        random: Double
    ) {
        paces.withLock { paces in
            var pace = paces[provider] ?? Pace()
            switch ending {
            case .failed(.transient(let retryAfter, _, _)), .failed(.unprocessed(let retryAfter, _)):
                pace.failed(login)
                if let retryAfter {
                    let asked = max(.zero, min(retryAfter, Backoff.longestRetryAfter))
                    pace.heldUntil = max(pace.heldUntil, uptime + asked)
                }
            case .failed(.inDoubt): pace.failed(login)
            case .renewed, .successorOnly, .failed(.dead), .failed(.needsUser): pace.succeeded()
            case .satisfied, .superseded, .refused, .failed: return
            }
            if pace.isInTrouble {
                let failures = pace.setbacks - Self.patience + 1
                let pause = Backoff.provider.pause(afterFailures: failures, random: random)
                pace.heldUntil = max(pace.heldUntil, uptime + pause)
            }
            paces[provider] = pace
        }
    }

    /// It is known from elsewhere that it is not to be asked.
    func leaveAlone(_ provider: ProviderHandle, until uptime: Duration) {
        paces.withLock { $0[provider, default: Pace()].heldUntil = max($0[provider]?.heldUntil ?? .zero, uptime) }
    }

    /// Why it was left alone is void.
    func release(_ provider: ProviderHandle) {
        paces.withLock { $0[provider]?.heldUntil = .zero }
    }

    /// How long the provider is left alone; nil: it may be asked.
    func hold(_ provider: ProviderHandle, uptime: Duration) -> Duration? {
        paces.withLock { paces in
            guard let until = paces[provider]?.heldUntil, until > uptime else { return nil }
            return until - uptime
        }
    }

    /// How many renewals may be under way that no caller waits for; nil: the provider is not in trouble.
    func bound(_ provider: ProviderHandle) -> Int? {
        paces.withLock { paces in
            guard let pace = paces[provider], pace.isInTrouble else { return nil }
            return max(0, 1 - pace.underWay)
        }
    }

    /// Takes a place for a renewal that no caller waits for. False: a provider in trouble has one already.
    func begin(_ provider: ProviderHandle) -> Bool {
        paces.withLock { paces in
            var pace = paces[provider] ?? Pace()
            guard !pace.isInTrouble || pace.underWay == 0 else { return false }
            pace.underWay += 1
            paces[provider] = pace
            return true
        }
    }

    func end(_ provider: ProviderHandle) {
        paces.withLock { $0[provider]?.underWay -= 1 }
    }
}
