import Synchronization
import VaultStorage

/// Renewals that the app has agreed to and that were given back unsent: the next attempt does not ask it again.
final class RecentConsents: Sendable {
    /// Callers keep trying for this long, see ``RenewalEngine/longestRetry``. Later the app may have changed its mind.
    private static let longest = Duration.seconds(30)

    private let given = Mutex<[LoginHandle: (position: ChainPosition, until: Duration)]>([:])

    func note(_ login: LoginHandle, at position: ChainPosition, uptime: Duration) {
        given.withLock { given in
            given = given.filter { $0.value.until > uptime }
            given[login] = (position, uptime + Self.longest)
        }
    }

    /// The link whose renewal the app has agreed to. Counts once.
    func take(_ login: LoginHandle, uptime: Duration) -> ChainPosition? {
        given.withLock { given in
            guard let consent = given.removeValue(forKey: login), consent.until > uptime else { return nil }
            return consent.position
        }
    }
}
