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

    /// Logins that were refused one after the other, each for what it asked.
    private struct Refusals {
        var revision: Int64
        var logins: Set<LoginHandle> = []
    }

    private struct State {
        var breakers: [ProviderHandle: Breaker] = [:]
        var refusals: [ProviderHandle: Refusals] = [:]
    }

    /// So many different logins without a success between are no coincidence. One login alone stops no other.
    static let patience = 3

    private let state = Mutex(State())

    /// Until when this provider is not asked; nil: it may be. After that time callers probe: the first that is
    /// let through moves the time on, so that one login tries and the others wait for what it learns.
    func openUntil(_ provider: ProviderHandle, revision: Int64, now: Timestamp) -> Timestamp? {
        state.withLock { state in
            guard var breaker = state.breakers[provider] else { return nil }
            guard breaker.revision == revision else {
                // The registration was changed: what was learned about the old one is void.
                state.breakers[provider] = nil
                return nil
            }
            // One that is open for longer than any is, was opened by a clock that has been set back since.
            let isOpen = now < breaker.openUntil && breaker.openUntil <= now.advanced(by: Backoff.breaker.most)
            guard !isOpen else { return breaker.openUntil }
            breaker.openUntil = now.advanced(by: Backoff.breaker.first)
            state.breakers[provider] = breaker
            return nil
        }
    }

    /// The same, without the right to probe: for those who have something to wait for before.
    func isOpen(_ provider: ProviderHandle, revision: Int64, now: Timestamp) -> Timestamp? {
        state.withLock { state in
            guard let breaker = state.breakers[provider], breaker.revision == revision, now < breaker.openUntil,
                breaker.openUntil <= now.advanced(by: Backoff.breaker.most)
            else { return nil }
            return breaker.openUntil
        }
    }

    func open(_ provider: ProviderHandle, revision: Int64, now: Timestamp, random: Double) {
        state.withLock { state in
            let failures = (state.breakers[provider]?.failures ?? 0) + 1
            let pause = Backoff.breaker.pause(afterFailures: failures, random: random)
            state.breakers[provider] = Breaker(
                revision: revision, failures: failures, openUntil: now.advanced(by: pause))
        }
    }

    /// Counts a login that was refused for what it asked. True: there have been enough of them to open the breaker.
    func noteRefusal(of login: LoginHandle, by provider: ProviderHandle, revision: Int64) -> Bool {
        state.withLock { state in
            var refusals = state.refusals[provider] ?? Refusals(revision: revision)
            if refusals.revision != revision { refusals = Refusals(revision: revision) }
            // A probe of a breaker that these have opened keeps it open.
            if refusals.logins.count < Self.patience { refusals.logins.insert(login) }
            state.refusals[provider] = refusals
            return refusals.logins.count >= Self.patience
        }
    }

    /// The provider has taken this client.
    func close(_ provider: ProviderHandle) {
        state.withLock { state in
            state.breakers[provider] = nil
            state.refusals[provider] = nil
        }
    }
}
