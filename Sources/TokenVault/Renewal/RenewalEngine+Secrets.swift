import Logging
import OAuthClient
import VaultStorage

extension RenewalEngine {
    /// After the provider refused this client: whether another of its secrets is taken now, which then comes first.
    ///
    /// No refresh token and no code travels with a secret that is not known to be good: see ``SecretTrial``. How often this
    /// is tried is up to the breaker, which opens on the same occasion.
    func findWorkingSecret(of provider: StoredProvider) async -> Bool {
        guard provider.record.clientSecrets.count > 1, let binding = try? ServerBinding(provider.record),
            secretTrials.begin(provider.handle)
        else { return false }
        defer { secretTrials.end(provider.handle) }
        let address = provider.record.revocationEndpoint.flatMap { try? EndpointURL(stored: $0) }
        let trial = SecretTrial(endpoint: address, binding: binding, transport: transport, now: vault.wallClock)
        guard case .other(let index)? = await trial?.run() else { return false }
        return await promote(index, of: provider)
    }

    /// Puts a secret that the provider has just taken before those that it refused. The others stay, in their order.
    func promote(_ index: Int, of provider: StoredProvider) async -> Bool {
        let known = provider.record.clientSecrets
        guard known.indices.contains(index) else { return false }
        do {
            let stored = try await vault.store.updateProvider(provider.handle) { record, _ in
                // Whoever changed them meanwhile knows better, be it this in another process.
                guard record.clientSecrets == known else { return [] }
                record.clientSecrets.insert(record.clientSecrets.remove(at: index), at: 0)
                return [.init("reason", "the provider refused the secret before it and took this one")]
            }
            guard stored.revision != provider.revision else { return false }
        } catch {
            return false
        }
        vault.logger.notice(
            "a provider takes another client secret now",
            metadata: ["vault-provider-handle": "\(provider.handle.text)"])
        return true
    }
}
