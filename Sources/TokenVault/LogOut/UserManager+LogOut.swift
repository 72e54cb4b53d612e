import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Ends a login. It is gone from the vault at once, tokens included; then its provider is asked to end the grant.
    /// A revocation that is not confirmed stays sealed in the outbox, and the report says so.
    ///
    /// At providers where an access token ends the grant, a login whose access token has expired is renewed first, for
    /// at most ten seconds. If that does not succeed, the grant lives on there, and the report says
    /// ``RevocationReport/Outcome/unsupported``.
    ///
    /// - Parameters:
    ///   - login: The login.
    ///   - revokes: Whether the provider is asked to end the grant. Otherwise the grant lives on there: for a provider that would
    ///     end the user's other logins with it.
    @discardableResult
    public func logOut(_ login: LoginRef, revokes: Bool = true) async throws -> RevocationReport {
        await finish([try await end(handle(of: login), revokes ? .loggedOut : .removed)])
    }

    /// Where an access token ends the grant, and the login's own has expired, fetches a working one first, while the
    /// login still exists. The transaction finds the outcome.
    private func renewToRevoke(_ login: LoginHandle, _ styles: [ProviderHandle: RevocationStyle]) async {
        guard let snapshot = try? await vault.session(.login(login)), let provider = snapshot.provider,
            let style = styles[provider], style.hasEndpoint, style.target == .accessToken, snapshot.isRefreshable,
            snapshot.session.livingAccessToken(at: vault.now) == nil, snapshot.session.failure == nil
        else { return }
        _ = try? await engine.renewedToken(snapshot, demand: .validity(nil), deadline: Self.longestWaitBeforeLogOut)
    }

    private static let longestWaitBeforeLogOut = Duration.seconds(10)

    /// Ends a login for good, and keeps it: it says ``SessionState/terminated(_:)`` with the reason until it is
    /// removed, or until your app lets the user log in again into it. Its tokens and its key are destroyed here, and
    /// its grant is revoked as at a log-out.
    ///
    /// ```swift
    /// try await users.terminate(.login(login.id), reason: .globalBan)
    /// ```
    ///
    /// A login that is terminated already gets the new reason, and there is nothing to revoke.
    @discardableResult
    public func terminate(_ login: LoginRef, reason: TerminationReason) async throws -> RevocationReport {
        await finish([try await end(handle(of: login), .terminated(reason))])
    }

    /// Ends a login in one transaction; its provider must still be asked.
    func end(_ login: LoginHandle, _ way: LoginEnd) async throws -> RevocationPlan {
        let styles = way.revokes ? await revocationStyles(ofLogin: login) : [:]
        if way.revokes { await renewToRevoke(login, styles) }
        let now = vault.now
        return try await vault.updateLogin(login) { state in
            let plan = way.revokes ? state.planRevocation(styles, now: now) : RevocationPlan(forgotten: login)
            state.outbox += plan.records
            switch way.kind {
            case .loggedOut:
                state.isRemoved = true
                state.auditEvents.append(AuditEvent(.loggedOut))
            case .removed:
                state.isRemoved = true
                state.auditEvents.append(AuditEvent(.loginRemoved))
            case .terminated(let reason):
                guard state.session.state != .terminated || state.session.terminationReason != reason.code else {
                    break
                }
                state.terminate(reason)
                state.auditEvents.append(
                    AuditEvent(.loginTerminated, [.init(AuditEvent.Detail.Key.reason, reason.description)]))
            }
            return plan
        }
    }

    // The providers' requirements are read before the transaction that needs them. A provider for which that fails is
    // no obstacle: the transaction decides, and treats it as ``RevocationStyle/unknown``.

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

    /// Follows up on ended logins: notifies handlers in progress, and asks the providers.
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
