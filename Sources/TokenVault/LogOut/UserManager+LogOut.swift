import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Ends a login. It is gone from the vault at once, tokens included; then its provider is asked to end the grant.
    /// What is not confirmed stays sealed in the outbox, and the report says so.
    ///
    /// At providers where an access token ends the grant, a login whose access token has expired is renewed first, for
    /// at most ten seconds. If that does not succeed, the grant lives on there, and the report says
    /// ``RevocationReport/Outcome/unsupported``.
    @discardableResult
    public func logOut(_ login: LoginRef) async throws -> RevocationReport {
        let login = try await vault.handle(of: login)
        let styles = await revocationStyles(ofLogin: login)
        await renewToRevoke(login, styles)
        let now = vault.now
        let plan = try await vault.updateLogin(login) { state in
            let plan = state.planRevocation(styles, now: now)
            state.outbox += plan.records
            state.isRemoved = true
            state.auditEvents.append(AuditEvent(.loggedOut))
            return plan
        }
        return await finish([plan])
    }

    /// Where an access token ends the grant, and the login's own has expired: one that works is fetched first, while
    /// the login still exists. The transaction finds the outcome.
    private func renewToRevoke(_ login: LoginHandle, _ styles: [ProviderHandle: RevocationStyle]) async {
        guard let snapshot = try? await vault.session(.login(login)), let provider = snapshot.provider,
            let style = styles[provider], style.hasEndpoint, style.target == .accessToken, snapshot.isRefreshable,
            snapshot.session.livingAccessToken(at: vault.now) == nil, snapshot.session.failure == nil
        else { return }
        _ = try? await engine.renewedToken(snapshot, demand: .validity(nil), deadline: Self.longestWaitBeforeLogOut)
    }

    private static let longestWaitBeforeLogOut = Duration.seconds(10)

    /// Forgets a login without a word to its provider, where the grant lives on.
    public func removeLogin(_ login: LoginRef) async throws {
        let login = try await vault.handle(of: login)
        try await vault.updateLogin(login) { state in
            state.isRemoved = true
            state.auditEvents.append(AuditEvent(.loginRemoved))
        }
        vault.superseding.fire([login])
    }

    // What the providers concerned want to be asked is read before the transaction that needs it. What cannot be found
    // out there is no obstacle: the transaction decides, and treats such a provider as ``RevocationStyle/unknown``.

    func revocationStyles(ofLogin login: LoginHandle) async -> [ProviderHandle: RevocationStyle] {
        let provider = try? await vault.store.session(.login(login)).provider
        return await revocationStyles(of: Set([provider].compactMap(\.self)))
    }

    func revocationStyles(ofUser userId: String) async -> [ProviderHandle: RevocationStyle] {
        await revocationStyles(of: (try? await vault.store.providers(ofUser: userId)) ?? [])
    }

    private func revocationStyles(of providers: Set<ProviderHandle>) async -> [ProviderHandle: RevocationStyle] {
        var styles: [ProviderHandle: RevocationStyle] = [:]
        for provider in providers {
            if let stored = try? await vault.store.provider(provider) {
                styles[provider] = RevocationStyle(stored.record)
            }
        }
        return styles
    }

    /// What follows once logins have been ended: handlers under way are told, and their providers asked.
    func finish(_ plans: [RevocationPlan]) async -> RevocationReport {
        vault.superseding.fire(plans.map(\.login))
        let outcomes = await revoker.revoke(queued: plans.flatMap(\.records))
        if context.options.retriesRevocationsInBackground { revoker.revokeSoon() }
        return RevocationReport(
            results: plans.map { plan in
                .init(login: LoginID(plan.login), outcome: plan.outcome ?? plan.combined(outcomes))
            })
    }
}
