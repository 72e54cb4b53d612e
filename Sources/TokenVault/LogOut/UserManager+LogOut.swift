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
    public func logOut(login: LoginID) async throws -> RevocationReport {
        let styles = revocationStyles(ofLogin: login.handle)
        await renewToRevoke(login, styles)
        let now = vault.now
        let plan = try await vault.updateLogin(login.handle) { state in
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
    private func renewToRevoke(_ login: LoginID, _ styles: [ProviderHandle: RevocationStyle]) async {
        guard let snapshot = try? vault.session(.login(login.handle)), let provider = snapshot.provider,
            let style = styles[provider], style.hasEndpoint, style.target == .accessToken, snapshot.isRefreshable,
            snapshot.session.livingAccessToken(at: vault.now) == nil, snapshot.session.failure == nil
        else { return }
        _ = try? await engine.renewedToken(snapshot, demand: .validity(nil), deadline: Self.longestWaitBeforeLogOut)
    }

    private static let longestWaitBeforeLogOut = Duration.seconds(10)

    /// Ends this user's only login. See ``logOut(login:)``.
    @discardableResult
    public func logOut(userId: String) async throws -> RevocationReport {
        let snapshot = try vault.session(.user(Self.checked(userId)))
        return try await logOut(login: LoginID(snapshot.login))
    }

    /// Forgets a login without a word to its provider, where the grant lives on.
    public func removeLogin(_ login: LoginID) async throws {
        try await vault.updateLogin(login.handle) { state in
            state.isRemoved = true
            state.auditEvents.append(AuditEvent(.loginRemoved))
        }
        vault.superseding.fire([login.handle])
    }

    // What the providers concerned want to be asked is read before the transaction that needs it. What cannot be found
    // out there is no obstacle: the transaction decides, and treats such a provider as ``RevocationStyle/unknown``.

    func revocationStyles(ofLogin login: LoginHandle) -> [ProviderHandle: RevocationStyle] {
        let provider = try? vault.store.session(.login(login)).provider
        return revocationStyles(of: Set([provider].compactMap(\.self)))
    }

    func revocationStyles(ofUser userID: String) -> [ProviderHandle: RevocationStyle] {
        revocationStyles(of: (try? vault.store.providers(ofUser: userID)) ?? [])
    }

    private func revocationStyles(of providers: Set<ProviderHandle>) -> [ProviderHandle: RevocationStyle] {
        providers.reduce(into: [:]) { styles, provider in
            if let stored = try? vault.store.provider(provider) { styles[provider] = RevocationStyle(stored.record) }
        }
    }

    /// What follows once logins have been ended: handlers under way are told, and their providers asked.
    func finish(_ plans: [RevocationPlan]) async -> RevocationReport {
        vault.superseding.fire(plans.map(\.login))
        let outcomes = await engine.revoke(queued: plans.flatMap(\.records))
        if engine.options.retriesRevocationsInBackground { engine.revokeSoon() }
        return RevocationReport(
            results: plans.map { plan in
                .init(login: LoginID(plan.login), outcome: plan.outcome ?? plan.combined(outcomes))
            })
    }
}

/// What is to be done about the tokens of a login that ends.
struct RevocationPlan: Sendable {
    let login: LoginHandle
    let records: [OutboxRecord]
    /// Known without asking.
    let outcome: RevocationReport.Outcome?

    /// The grant outlives what can be revoked of it.
    var livesOn = false

    /// What is true of the login as a whole: done only if every token is.
    func combined(_ outcomes: [OutboxHandle: RevocationReport.Outcome]) -> RevocationReport.Outcome {
        // An entry that is gone, and not by this manager, was confirmed to somebody else.
        let own = records.map { outcomes[$0.handle] ?? .revoked }
        if let open = own.first(where: { !$0.isSettled }) { return open }
        if livesOn { return .unsupported }
        return own.contains(.revoked) ? .revoked : own.first ?? .revoked
    }
}

/// What a provider wants to be asked when a login ends.
struct RevocationStyle: Sendable {
    let hasEndpoint: Bool
    /// Which token's end is the end of the grant.
    let target: ProviderProfile.RevocationRules.Target

    /// Of a provider that is damaged, or that came a moment ago. Its tokens wait in the outbox: whether they can be
    /// revoked is decided when they are to be sent, and no token is forgotten that could be.
    static let unknown = RevocationStyle(hasEndpoint: true, target: .refreshToken)

    private init(hasEndpoint: Bool, target: ProviderProfile.RevocationRules.Target) {
        self.hasEndpoint = hasEndpoint
        self.target = target
    }

    init(_ record: ProviderRecord) {
        hasEndpoint = record.revocationEndpoint != nil
        target = (try? record.profile.revocation.target) ?? .refreshToken
    }
}

extension LoginState {
    /// The refresh token, because its end is the end of the grant (RFC 7009 §2.1); the access token where there is
    /// nothing else, and where the provider wants both. An expired one ends nothing, and is not sent.
    func planRevocation(_ styles: [ProviderHandle: RevocationStyle], now: Timestamp) -> RevocationPlan {
        let style = provider.map { styles[$0] ?? .unknown }
        let target = style?.target ?? .refreshToken
        let living = session.livingAccessToken(at: now)
        let refreshToken = target == .accessToken ? nil : refresh?.refreshToken
        let accessToken = refreshToken == nil || target == .both ? living : nil
        let livesOn = grantOutlives(target, living)
        guard let provider, refreshToken != nil || accessToken != nil else {
            return RevocationPlan(
                login: handle, records: [], outcome: provider != nil && livesOn ? .unsupported : .nothingToRevoke)
        }
        guard style?.hasEndpoint == true else {
            return RevocationPlan(login: handle, records: [], outcome: .unsupported)
        }
        // One entry for each token: each is confirmed on its own.
        // A token of a late reply may be the one that the grant lives on under; a predecessor is not.
        let other = refresh?.previousRole == .predecessor ? nil : refresh?.previousRefresh
        var records: [OutboxRecord] = []
        var tokens: [(SecretBytes?, SecretBytes?)] = [(refreshToken, nil), (other, nil), (nil, accessToken)]
        if target != .refreshToken { tokens += session.resourceTokens.map { (nil, $0.accessToken) } }
        for (refresh, access) in tokens where refresh != nil || access != nil {
            records.append(
                OutboxRecord(
                    provider: provider, login: handle, user: user, refreshToken: refresh, accessToken: access,
                    dpopPrivateKey: key?.dpopPrivateKey, nonces: key?.nonces ?? [:], createdAt: now))
        }
        return RevocationPlan(login: handle, records: records, outcome: nil, livesOn: livesOn)
    }

    /// Whether the provider goes on taking a token of this grant that cannot be revoked from here: the next refresh
    /// token after a reply that was lost, or any where only an expired access token could have ended it.
    private func grantOutlives(_ target: ProviderProfile.RevocationRules.Target, _ living: SecretBytes?) -> Bool {
        if target == .accessToken { return living == nil && refresh?.refreshToken != nil }
        return session.failure?.reason == RefreshFailure.Reason.lostResponse.code
    }
}

extension SessionRecord {
    /// The login's own access token, if it has not expired.
    func livingAccessToken(at now: Timestamp) -> SecretBytes? { hasRunOut(at: now) ? nil : accessToken }
}
