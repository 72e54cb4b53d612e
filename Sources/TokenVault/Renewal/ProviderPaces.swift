import Synchronization
import VaultStorage

/// What the last replies of each provider mean for logins that are not urgent: what one of them was told, the others need
/// not find out. Callers are not held up by it: their own login decides.
///
/// In memory, by a clock that is never set: another process finds out with one request of its own.
final class ProviderPaces: Sendable {
    private struct Pace {
        var heldUntil = Duration.zero
        /// Failures in a row that say nothing about a login.
        var setbacks = 0
    }

    /// After so many failures in a row the provider is taken to be in trouble: it gets one request at a time, after pauses.
    static let patience = 3

    private let paces = Mutex<[ProviderHandle: Pace]>([:])

    /// What a renewal came to.
    func note(_ ending: RenewalMachine.Ending, of provider: ProviderHandle, uptime: Duration, random: Double) {
        paces.withLock { paces in
            var pace = paces[provider] ?? Pace()
            switch ending {
            case .failed(.transient(let retryAfter, _, _)):
                pace.setbacks += 1
                if let retryAfter {
                    let asked = max(.zero, min(retryAfter, Backoff.longestRetryAfter))
                    pace.heldUntil = max(pace.heldUntil, uptime + asked)
                }
            case .failed(.inDoubt): pace.setbacks += 1
            case .renewed, .successorOnly, .failed(.dead), .failed(.needsUser): pace.setbacks = 0
            case .satisfied, .superseded, .refused, .failed: return
            }
            if pace.setbacks >= Self.patience {
                let pause = Backoff.provider.pause(afterFailures: pace.setbacks - Self.patience + 1, random: random)
                pace.heldUntil = max(pace.heldUntil, uptime + pause)
            }
            paces[provider] = pace
        }
    }

    /// It is known from elsewhere that it is not to be asked.
    func leaveAlone(_ provider: ProviderHandle, until uptime: Duration) {
        paces.withLock { $0[provider, default: Pace()].heldUntil = max($0[provider]?.heldUntil ?? .zero, uptime) }
    }

    /// How long the provider is left alone; nil: it may be asked.
    func hold(_ provider: ProviderHandle, uptime: Duration) -> Duration? {
        paces.withLock { paces in
            guard let until = paces[provider]?.heldUntil, until > uptime else { return nil }
            return until - uptime
        }
    }

    /// Whether it gets one request at a time.
    func isInTrouble(_ provider: ProviderHandle) -> Bool {
        paces.withLock { $0[provider]?.setbacks ?? 0 >= Self.patience }
    }
}
