import OAuthClient
import VaultStorage

extension UserManager {
    /// Ends a login. It is gone from the vault at once, tokens included; then its provider is asked to end the grant.
    /// What is not confirmed stays sealed in the outbox, and the report says so.
    @discardableResult
    public func logOut(login: LoginID) async throws -> RevocationReport {
        let revocable = try revocableProviders()
        let now = vault.now
        let plan = try await vault.updateLogin(login.handle) { state in
            let plan = state.planRevocation(revocable, now: now)
            state.outbox += plan.records
            state.isRemoved = true
            state.auditEvents.append(AuditEvent(.loggedOut))
            return plan
        }
        return await finish([plan])
    }

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

    /// Which providers can revoke, read before the transaction that needs it.
    func revocableProviders() throws -> Set<ProviderHandle> {
        try VaultError.translating {
            Set(try vault.store.providers().filter { $0.record.revocationEndpoint != nil }.map(\.handle))
        }
    }

    /// What follows once logins have been ended: handlers under way are told, and their providers asked.
    func finish(_ plans: [RevocationPlan]) async -> RevocationReport {
        vault.superseding.fire(plans.map(\.login))
        var results: [RevocationReport.Result] = []
        let outcomes = await engine.revoke(logins: Set(plans.filter { !$0.records.isEmpty }.map(\.login)))
        for plan in plans {
            let outcome = plan.outcome ?? outcomes[plan.login] ?? .revoked
            results.append(.init(login: LoginID(plan.login), outcome: outcome))
        }
        return RevocationReport(results: results)
    }
}

/// What is to be done about the tokens of a login that ends.
struct RevocationPlan: Sendable {
    let login: LoginHandle
    let records: [OutboxRecord]
    /// Known without asking.
    let outcome: RevocationReport.Outcome?
}

extension LoginState {
    /// The refresh token, because its end is the end of the grant (RFC 7009 §2.1); the access token only where there is
    /// nothing else.
    func planRevocation(_ revocable: Set<ProviderHandle>, now: Timestamp) -> RevocationPlan {
        let refreshToken = refresh?.refreshToken
        let accessToken = refreshToken == nil ? session.accessToken : nil
        guard let provider, refreshToken != nil || accessToken != nil,
            session.failure?.isFinal != true || refreshToken != nil
        else {
            return RevocationPlan(login: handle, records: [], outcome: .nothingToRevoke)
        }
        guard revocable.contains(provider) else {
            return RevocationPlan(login: handle, records: [], outcome: .unsupported)
        }
        let record = OutboxRecord(
            provider: provider, login: handle, user: user, refreshToken: refreshToken, accessToken: accessToken,
            dpopPrivateKey: key?.dpopPrivateKey, nonces: key?.nonces ?? [:], createdAt: now)
        return RevocationPlan(login: handle, records: [record], outcome: nil)
    }
}
