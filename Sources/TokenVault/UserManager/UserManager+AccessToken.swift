import FoundationEssentials
import OAuthClient
import VaultStorage

extension UserManager {
    /// A good access token of this user's only login.
    ///
    /// A token with enough validity left is read and returned without suspension. Otherwise it is renewed first, once
    /// for any number of callers. If the renewal does not succeed and the old token is still valid for what was asked,
    /// the old one is returned.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them.
    ///   - minimumValidity: For how long the token must be valid. By default five minutes, or a fifth of its lifetime
    ///     if that is less; a token that is merely valid is then still better than an error.
    ///   - deadline: How long to wait at most. The renewal continues after it.
    /// - Throws: ``VaultError`` or, if the calling task is cancelled, `CancellationError`.
    public func accessToken(
        userId: String, minimumValidity: Duration? = nil, deadline: Duration? = nil
    ) async throws -> VaultToken {
        try await token(.user(ArgumentCheck.userID(userId)), minimumValidity: minimumValidity, deadline: deadline)
    }

    /// A good access token of this login. See ``accessToken(userId:minimumValidity:deadline:)``.
    public func accessToken(
        login: LoginID, minimumValidity: Duration? = nil, deadline: Duration? = nil
    ) async throws -> VaultToken {
        try await token(.login(login.handle), minimumValidity: minimumValidity, deadline: deadline)
    }

    /// The stored access token of this user's only login if it is good for long enough; nil if it would have to be
    /// renewed first. Reads the vault on the calling thread; sends nothing, changes nothing.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them.
    ///   - minimumValidity: For how long the token must be valid, as in
    ///     ``accessToken(userId:minimumValidity:deadline:)``.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/notLoggedIn`` and ``VaultError/Code/ambiguousLogin``.
    public func validAccessToken(userId: String, minimumValidity: Duration? = nil) throws -> VaultToken? {
        let snapshot = try vault.session(.user(ArgumentCheck.userID(userId)))
        return try goodToken(in: snapshot, for: .validity(minimumValidity))
    }

    /// The stored access token of this login if it is good for long enough.
    /// See ``validAccessToken(userId:minimumValidity:)``.
    public func validAccessToken(login: LoginID, minimumValidity: Duration? = nil) throws -> VaultToken? {
        try goodToken(in: vault.session(.login(login.handle)), for: .validity(minimumValidity))
    }

    func token(
        _ selector: LoginSelector, for target: TokenTarget = .own, minimumValidity: Duration?, deadline: Duration?
    ) async throws -> VaultToken {
        let demand = RenewalDemand.validity(minimumValidity)
        let snapshot = try vault.session(selector)
        if snapshot.session.failure != nil { context.announceFailureIfUntold(snapshot) }
        if let token = try goodToken(in: snapshot, target, for: demand) { return token }
        if let scope = target.scope { try Self.check(scope, against: snapshot.session.grantedScope) }
        return try await engine.renewedToken(snapshot, target: target, demand: demand, deadline: deadline)
    }

    private func goodToken(
        in snapshot: SessionSnapshot, _ target: TokenTarget = .own, for demand: RenewalDemand
    ) throws -> VaultToken? {
        vault.judge(snapshot, target).isEnough(for: demand) ? try vault.usableToken(in: snapshot, target) : nil
    }

    /// Renews the access token of this user's only login now, whatever is left of it.
    ///
    /// An obstacle on record is respected: a dead login stays dead, a backoff is waited out.
    public func updateAccessToken(userId: String) async throws -> VaultToken {
        try await renewNow(.user(ArgumentCheck.userID(userId)))
    }

    /// Renews the access token of this login now. See ``updateAccessToken(userId:)``.
    public func updateAccessToken(login: LoginID) async throws -> VaultToken {
        try await renewNow(.login(login.handle))
    }

    private func renewNow(_ selector: LoginSelector) async throws -> VaultToken {
        let snapshot = try vault.session(selector)
        return try await engine.renewedToken(
            snapshot,
            demand: .newer(than: snapshot.session.accessGeneration ?? snapshot.position.generation), deadline: nil)
    }

    /// Reports that a resource server refused this token (401). It is not given out again, and is renewed now: once for
    /// any number of reports. A report about a token that has been replaced does nothing. A token for one resource is
    /// renewed for that resource; the login's other tokens stay.
    public func reportRejected(_ token: VaultToken) async throws {
        let (target, generation) = (token.target, Int64(token.generation))
        let isNews = try await vault.updateLogin(token.login.handle) { state in
            guard let stored = StoredToken(target, in: state.session, at: state.position),
                stored.generation == generation, !stored.isRejected
            else { return false }
            state.session.reject(target, generation)
            state.auditEvents.append(AuditEvent(.tokenRejected))
            return true
        }
        guard isNews else { return }
        context.lifetimes.forget(token.login.handle)
        let snapshot = try vault.session(.login(token.login.handle))
        _ = try await engine.renewedToken(
            snapshot, target: target, demand: .newer(than: generation), deadline: nil)
    }

    /// Notes in the audit trail that this token is about to be shown to a person. Durable when it returns.
    public func recordReveal(of token: VaultToken) async throws {
        let generation = String(token.generation)
        try await vault.updateLogin(token.login.handle) { state in
            state.auditEvents.append(AuditEvent(.tokenRevealed, [.init(AuditEvent.Detail.Key.generation, generation)]))
        }
    }
}
