import VaultStorage

/// The party that a renewal asked.
struct Asked: Sendable {
    /// Nil: the app.
    let provider: ProviderHandle?
    /// For labels: one for each provider, and one for the app.
    let name: String

    init(_ provider: StoredProvider?) {
        self.provider = provider?.handle
        name = provider?.record.name ?? "app"
    }
}

extension RenewalContext {
    /// Records the result of a renewal that got as far as an attempt.
    func note(_ ending: RenewalMachine.Ending, of login: LoginHandle, _ asked: Asked, took: Duration) {
        metrics.renewed(RenewalOutcome(ending), provider: asked.name, took: took)
        guard let provider = asked.provider else { return }
        let (uptime, random) = (vault.timeSource.uptime(), random())
        health.change(provider) { $0.pace.note(ending, of: login, uptime: uptime, random: random) }
    }

    /// Counts a login that has just died.
    func noteDead(_ login: LoginHandle) async {
        guard let stored = try? await vault.store.login(login), let failure = stored.session.failure else { return }
        let name = await vault.name(of: stored.provider) ?? "app"
        metrics.dead(RefreshFailure.Reason(code: failure.reason), provider: name)
    }
}
