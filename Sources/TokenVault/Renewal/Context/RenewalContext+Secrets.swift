import Logging
import OAuthClient
import VaultStorage

extension RenewalContext {
    /// After the provider refused this client: whether it accepts another of the client's secrets, which then becomes
    /// the first.
    ///
    /// No refresh token and no code is sent with a secret that is not known to be good: see ``SecretTrial``. How often
    /// this is tried depends on the breaker, which opens on the same occasion, or on the pause of the refused login.
    ///
    /// - Parameter time: The rest of the renewal's time.
    func findWorkingSecret(of provider: StoredProvider, within time: Duration) async -> Bool {
        guard provider.record.clientSecrets.count > 1 else { return false }
        return await findWorkingSecret(of: provider, within: time, hasBegun: secretTrials.begin(provider.handle))
    }

    /// - Parameter hasBegun: Whether this caller runs the trial. Otherwise it waits for another caller's result.
    func findWorkingSecret(of provider: StoredProvider, within time: Duration, hasBegun: Bool) async -> Bool {
        guard hasBegun else {
            if await secretTrials.outcome(provider.handle, within: time, timeSource: vault.timeSource) { return true }
            // The trial may have ended before this call.
            return await hasOtherSecret(than: provider)
        }
        var hasFound = await hasOtherSecret(than: provider)
        if !hasFound, case .other(let index)? = await trial(of: provider, within: time)?.run() {
            hasFound = await promote(index, of: provider)
        }
        secretTrials.end(provider.handle, hasFound: hasFound)
        return hasFound
    }

    /// Whether the vault has got another first secret since the refused request was built: a trial that ended a moment
    /// ago has found it, or an operator has entered it. Another trial would find nothing new.
    private func hasOtherSecret(than provider: StoredProvider) async -> Bool {
        guard let stored = try? await vault.store.provider(provider.handle) else { return false }
        return stored.record.clientSecrets.first != provider.record.clientSecrets.first
    }

    /// Checks the client's secret after a refusal without a reason that counts as the end of a login: a wrong secret
    /// would look the same. This happens before another login is sent; a refused secret opens the breaker.
    func checkSecret(of provider: StoredProvider, within time: Duration) async {
        guard !provider.record.isPublicClient, secretTrials.begin(provider.handle) else { return }
        guard await !hasOtherSecret(than: provider) else { return secretTrials.end(provider.handle, hasFound: true) }
        var hasFound = false
        switch await trial(of: provider, within: time)?.run() {
        case .other(let index): hasFound = await promote(index, of: provider)
        case .refused:
            openBreaker(provider)
            vault.logger.warning(
                "a provider refuses the client secret, and has ended a login meanwhile",
                metadata: ["vault-provider-handle": "\(provider.handle.text)"])
        case .first, .unknown, nil: break
        }
        secretTrials.end(provider.handle, hasFound: hasFound)
    }

    /// Nil where the provider cannot be asked in this way.
    private func trial(of provider: StoredProvider, within time: Duration) -> SecretTrial? {
        guard let binding = try? ServerBinding(provider.record) else { return nil }
        let address = provider.record.revocationEndpoint.flatMap { try? EndpointURL(stored: $0) }
        let timeSource = vault.timeSource
        let end = timeSource.uptime() + time
        return SecretTrial(
            endpoint: address, binding: binding, transport: transport, now: vault.wallClock,
            timeLeft: { end - timeSource.uptime() })
    }

    /// Moves a secret that the provider has just accepted before those that it refused. The others stay, in their
    /// order.
    func promote(_ index: Int, of provider: StoredProvider) async -> Bool {
        let known = provider.record.clientSecrets
        guard known.indices.contains(index) else { return false }
        do {
            let stored = try await vault.store.updateProvider(provider.handle) { record, _ in
                // A secret stored meanwhile is newer, even by another process.
                guard record.clientSecrets == known else { return [] }
                record.clientSecrets.insert(record.clientSecrets.remove(at: index), at: 0)
                return [
                    .init(AuditEvent.Detail.Key.reason, "the provider refused the secret before it and took this one")
                ]
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
