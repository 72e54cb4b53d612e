import OAuthClient
import Synchronization
import VaultStorage

/// How long a login's access tokens live, for providers that report it only when asked. Once two answers agree, later
/// tokens are assumed to live as long, and only some of them are asked about. In memory, and bounded.
/// `docs/adr/0048-introspect-a-sample-of-tokens.md`
final class KnownLifetimes: Sendable {
    private struct Entry {
        var lifetime: Duration
        var answers = 1
        /// Tokens since the last answer.
        var spared = 0
    }

    static let answersNeeded = 2
    static let mostSpared = 7
    /// Answers are in whole seconds, and requests take time.
    private static let tolerance = Duration.seconds(-5)...Duration.seconds(5)

    private let known = Mutex(RecentTable<LoginHandle, Entry>(capacity: 4_096))

    /// Records the provider's answer about a new token.
    func learn(_ lifetime: Duration, of login: LoginHandle) {
        known.withLock { known in
            var entry = Entry(lifetime: lifetime)
            if let before = known[login], Self.tolerance.contains(before.lifetime - lifetime) {
                entry.lifetime = min(before.lifetime, lifetime)
                entry.answers = before.answers + 1
            }
            known.insert(entry, for: login)
        }
    }

    /// Returns how long a new token of this login lives; nil: ask the provider.
    func takeLifetime(of login: LoginHandle) -> Duration? {
        known.withLock { known in
            guard var entry = known[login], entry.answers >= Self.answersNeeded, entry.spared < Self.mostSpared else {
                return nil
            }
            entry.spared += 1
            known.insert(entry, for: login)
            return entry.lifetime
        }
    }

    /// A token was refused before its expiry.
    func forget(_ login: LoginHandle) {
        known.withLock { known in
            guard var entry = known[login] else { return }
            entry.answers = 0
            known.insert(entry, for: login)
        }
    }
}
