import VaultStorage

extension RenewalEngine {
    /// As ``join(_:target:demand:deadline:)``, for callers that will not ask again by themselves: if the provider
    /// refused this client and then accepted another of its secrets, the login is renewed with that.
    func joinInBackground(_ login: LoginHandle, demand: RenewalDemand) async -> Flight.Wait {
        let (flight, wait) = await join(login, demand: demand, deadline: nil)
        guard await hasNewSecret(flight, wait, login) else { return wait }
        return await join(login, demand: demand, deadline: nil).1
    }

    private func hasNewSecret(_ flight: Flight, _ wait: Flight.Wait, _ login: LoginHandle) async -> Bool {
        guard case .ended(let ending) = wait else { return false }
        let hasFound: Bool
        let provider = (try? await vault.store.login(login))?.provider
        switch ending {
        case .failed(.clientRefused), .failed(.misconfigured): hasFound = flight.hasNewSecret
        case .refused(.breakerOpen):
            // Another login has just been refused, and secrets are being tried.
            guard let provider else { return false }
            let isFoundNow = await context.secretTrials.outcome(
                provider, within: ReplayPolicy().budget, timeSource: vault.timeSource)
            hasFound = if isFoundNow { true } else { await !isLeftAlone(provider) }
        default: return false
        }
        if hasFound, let provider { context.health.change(provider) { $0.pace.release() } }
        return hasFound
    }

    /// Whether the provider is still in the state that another login's refusal put it in: the trial may have ended
    /// before this one asked for it.
    private func isLeftAlone(_ provider: ProviderHandle) async -> Bool {
        guard let stored = try? await vault.store.provider(provider) else { return true }
        return context.health[provider].breaker.openUntil(revision: stored.revision, now: vault.now) != nil
    }
}
