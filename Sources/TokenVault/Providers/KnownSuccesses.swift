import Synchronization
import VaultStorage

/// The last known success of each provider's logins. The vault's record decides; this one is a short-lived cache, so
/// that a provider that refuses every login is not looked up for each of them.
final class KnownSuccesses: Sendable {
    private struct Known {
        /// The login that must not count had asked.
        let login: LoginHandle
        let at: Timestamp?
        let lookedAt: Duration
    }

    private static let knownFor = Duration.seconds(60)

    private let known = Mutex<[ProviderHandle: Known]>([:])

    /// Whether another login of the provider has been renewed since then, in any process.
    func isKnown(at provider: ProviderHandle, than login: LoginHandle, since: Timestamp, _ vault: Vault) async -> Bool {
        let uptime = vault.timeSource.uptime()
        if let known = known.withLock({ $0[provider] }), uptime - known.lookedAt < Self.knownFor {
            // That no login succeeded holds for later questions, too. A success may be that of the login in question.
            guard let at = known.at else { return false }
            if known.login == login { return at > since }
        }
        // If the vault cannot be read, the login continues.
        guard let found = try? await vault.store.lastRenewal(at: provider, otherThan: login, since: since) else {
            known.withLock { $0[provider] = Known(login: login, at: nil, lookedAt: uptime) }
            return false
        }
        known.withLock { $0[provider] = Known(login: login, at: found, lookedAt: uptime) }
        return true
    }
}
