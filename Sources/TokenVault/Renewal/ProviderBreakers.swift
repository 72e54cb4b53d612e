import Synchronization
import VaultStorage

/// Which providers are not asked for now, because they refused our client. In memory: another process finds out with
/// one request of its own.
final class ProviderBreakers: Sendable {
    private struct Breaker {
        var revision: Int64
        var failures: Int
        var openUntil: Timestamp
    }

    private let breakers = Mutex<[ProviderHandle: Breaker]>([:])

    /// Until when this provider is not asked; nil: it may be. After that time callers probe: the first that is
    /// let through moves the time on, so that one login tries and the others wait for what it learns.
    func openUntil(_ provider: ProviderHandle, revision: Int64, now: Timestamp) -> Timestamp? {
        breakers.withLock { breakers in
            guard var breaker = breakers[provider] else { return nil }
            guard breaker.revision == revision else {
                // The registration was changed: what was learned about the old one is void.
                breakers[provider] = nil
                return nil
            }
            // One that is open for longer than any is, was opened by a clock that has been set back since.
            let isOpen = now < breaker.openUntil && breaker.openUntil <= now.advanced(by: Backoff.breaker.most)
            guard !isOpen else { return breaker.openUntil }
            breaker.openUntil = now.advanced(by: Backoff.breaker.first)
            breakers[provider] = breaker
            return nil
        }
    }

    func open(_ provider: ProviderHandle, revision: Int64, now: Timestamp, random: Double) {
        breakers.withLock { breakers in
            let failures = (breakers[provider]?.failures ?? 0) + 1
            let pause = Backoff.breaker.pause(afterFailures: failures, random: random)
            breakers[provider] = Breaker(
                revision: revision, failures: failures, openUntil: now.advanced(by: pause))
        }
    }

    func close(_ provider: ProviderHandle) {
        breakers.withLock { $0[provider] = nil }
    }
}
