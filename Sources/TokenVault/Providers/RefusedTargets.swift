import OAuthClient
import Synchronization
import VaultStorage

/// Resources and scopes for which a provider gave no token a moment ago, so that a caller who asks again and again does not
/// send the refresh token again and again. In memory, and bounded.
final class RefusedTargets: Sendable {
    private struct Key: Hashable, Sendable {
        let login: LoginHandle
        let target: TokenTarget
    }

    private let untils = Mutex(RecentTable<Key, Timestamp>(capacity: 4_096))

    func note(_ target: TokenTarget, of login: LoginHandle, now: Timestamp) {
        let until = now.advanced(by: Backoff.breaker.first)
        untils.withLock { $0.insert(until, for: Key(login: login, target: target)) }
    }

    func isRefused(_ target: TokenTarget, of login: LoginHandle, now: Timestamp) -> Bool {
        guard !target.isOwn else { return false }
        return untils.withLock { untils in
            untils[Key(login: login, target: target)].map { $0 > now && $0 <= now.advanced(by: Backoff.breaker.first) }
                ?? false
        }
    }
}
