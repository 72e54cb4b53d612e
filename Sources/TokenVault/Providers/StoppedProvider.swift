package import FoundationEssentials
import VaultStorage

/// A provider that has ended one login after the other.
package struct StoppedProvider: Sendable, Equatable {
    package let name: String
    package let since: Date
    /// How many logins it had ended by then.
    package let ended: Int?
}

extension Vault {
    /// Providers whose word that a login is over is not believed now.
    package func stoppedProviders() async throws -> [StoppedProvider] {
        try await VaultError.translating {
            var stopped: [StoppedProvider] = []
            for provider in try await store.providers().compactMap(\.provider) {
                let endings = try await store.endings(of: provider.handle)
                guard let since = endings.stoppedAt else { continue }
                stopped.append(
                    StoppedProvider(name: provider.record.name, since: since.date, ended: endings.stoppedAfter))
            }
            return stopped
        }
    }

    /// Believes this provider for a day, however many logins it ends, and lets it go on if it is stopped.
    ///
    /// - Returns: Whether it was stopped.
    package func acceptDeaths(ofProvider name: String) async throws -> Bool {
        try await VaultError.translating {
            let provider = try await store.provider(named: name)
            let wasStopped = try await store.endings(of: provider.handle).stoppedAt != nil
            try await store.record(
                AuditEvent(.deathsAccepted, [.init("name", provider.record.name)]), of: provider.handle)
            return wasStopped
        }
    }
}
