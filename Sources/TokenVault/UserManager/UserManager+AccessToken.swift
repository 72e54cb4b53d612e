import FoundationEssentials
import OAuthClient
import VaultStorage

extension UserManager {
    /// A good access token of this login.
    ///
    /// A token with enough validity left is read and returned without suspension. Otherwise it is renewed first, once
    /// for any number of callers. If the renewal fails and the old token still meets the request, the old one is
    /// returned.
    ///
    /// ```swift
    /// let token = try await users.accessToken(
    ///     for: .login(login.id), TokenRequest(minimumValidity: .seconds(300), deadline: .seconds(2)))
    /// ```
    ///
    /// - Throws: ``VaultError``, such as ``VaultError/Code/notLoggedIn``, ``VaultError/Code/ambiguousLogin``, and
    ///   ``VaultError/Code/resourceRefused`` if the provider gives no token for this resource and scope; or, if the
    ///   calling task is cancelled, `CancellationError`.
    public func accessToken(
        for login: LoginRef, _ request: TokenRequest = TokenRequest()
    ) async throws -> VaultToken {
        do {
            let target = try request.target
            return try await token(session(of: login), target, request).token
        } catch {
            throw context.calls.failed(error)
        }
    }

    /// Returns a good access token of this login for a request to this URL, if its provider's tokens may be sent there.
    /// Otherwise the call fails before anything is renewed.
    ///
    /// - Returns: The token, and the key to which it is bound if that was read with it.
    func tokenAndKey(
        for login: LoginRef, _ request: TokenRequest, to url: EndpointURL
    ) async throws -> (token: VaultToken, key: KeyRecord?) {
        do {
            let target = try request.target
            let snapshot = try await session(of: login, withKey: true)
            try await requireAllowed(url, by: snapshot.provider, for: snapshot.session.resource)
            let (token, isStored) = try await token(snapshot, target, request)
            return (token, isStored ? snapshot.key : nil)
        } catch {
            throw context.calls.failed(error)
        }
    }

    /// A good access token of this user's only login.
    /// See ``accessToken(for:_:)``, and ``TokenRequest`` for what the two times mean.
    public func accessToken(
        userId: String, minimumValidity: Duration? = nil, deadline: Duration? = nil
    ) async throws -> VaultToken {
        do {
            return try await token(
                session(of: .user(userId)), .own,
                TokenRequest(minimumValidity: minimumValidity, deadline: deadline)
            ).token
        } catch {
            throw context.calls.failed(error)
        }
    }

    /// **Renews** the access token of this user's only login now, even if it is still valid, and spends its refresh token.
    ///
    /// The name is that of other SDKs. In new code write what it means, ``accessToken(for:_:)`` with
    /// ``TokenRequest/renewed``, which no one can mistake for the call that stores a token:
    ///
    /// ```swift
    /// let token = try await users.accessToken(for: .user("alice"), .renewed)
    /// ```
    ///
    /// - Warning: To store a token that you have, name it: ``updateAccessToken(userId:accessToken:expiresAt:refreshToken:)``.
    ///   Without `accessToken:` this call goes to the provider. The compiler warns if its result is not used.
    public func updateAccessToken(userId: String) async throws -> VaultToken {
        try await accessToken(for: .user(userId), .renewed)
    }

    /// The stored access token of this login if it is good for long enough; nil if it would have to be renewed first.
    /// Reads the vault on the calling thread; sends nothing, changes nothing.
    ///
    /// - Throws: ``VaultError``, such as ``VaultError/Code/notLoggedIn`` and ``VaultError/Code/ambiguousLogin``.
    public func validAccessToken(
        for login: LoginRef, _ request: TokenRequest = TokenRequest()
    ) async throws -> VaultToken? {
        let target = try request.target
        let snapshot = try await session(of: login)
        return try goodToken(in: snapshot, target, for: request.demand(in: snapshot, target))
    }

    /// Returns a new access token for the same target, after this one was refused.
    package func accessToken(replacing token: VaultToken, deadline: Duration?) async throws -> VaultToken {
        try await self.token(
            vault.session(.login(token.login.handle)), token.target, TokenRequest(deadline: deadline)
        ).token
    }

    /// - Returns: The token, and whether it is the one of the snapshot.
    private func token(
        _ snapshot: SessionSnapshot, _ target: TokenTarget, _ request: TokenRequest
    ) async throws -> (token: VaultToken, isStored: Bool) {
        let demand = request.demand(in: snapshot, target)
        if let asked = target.resource, let own = snapshot.session.resource,
            (try? ResourceIdentifier(stored: asked)) != (try? ResourceIdentifier(stored: own))
        {
            throw VaultError(
                .resourceRefused, "this login is for another resource",
                hint: "for that resource, the user must log in there")
        }
        if snapshot.session.failure != nil { context.announceFailureIfUnreported(snapshot) }
        if let token = try goodToken(in: snapshot, target, for: demand) {
            context.calls.served()
            return (token, true)
        }
        if let scope = target.scope { try TokenRequest.check(scope, against: snapshot.session.grantedScope) }
        let start = vault.timeSource.uptime()
        do {
            let token = try await engine.renewedToken(
                snapshot, target: target, demand: demand, deadline: request.deadline)
            context.calls.served(after: vault.timeSource.uptime() - start)
            return (token, false)
        } catch {
            context.calls.record(vault.timeSource.uptime() - start)
            throw error
        }
    }

    private func goodToken(
        in snapshot: SessionSnapshot, _ target: TokenTarget, for demand: RenewalDemand
    ) throws -> VaultToken? {
        vault.classifier(snapshot.session, at: snapshot.position, target).isEnough(for: demand)
            ? try context.usableToken(in: snapshot, target) : nil
    }

    /// Reports that a resource server refused this token (401). It is not given out again, and is renewed now: once for
    /// any number of reports. A report about a token that has been replaced does nothing. A token for one resource is
    /// renewed for that resource; the login's other tokens stay.
    public func reportRejected(_ token: VaultToken) async throws {
        let (target, generation) = (token.target, Int64(token.generation))
        let isNews = try await vault.updateLogin(token.login.handle) { state in
            guard let stored = state.session.token(target, at: state.position),
                stored.generation == generation, !stored.isRejected
            else { return false }
            state.session.reject(target, generation)
            state.auditEvents.append(AuditEvent(.tokenRejected))
            return true
        }
        guard isNews else { return }
        context.lifetimes.forget(token.login.handle)
        let snapshot = try await vault.session(.login(token.login.handle))
        _ = try await engine.renewedToken(
            snapshot, target: target, demand: .newer(than: generation), deadline: nil)
    }

    /// Records in the audit trail that this token is about to be shown to a person. Durable when it returns.
    package func recordReveal(of token: VaultToken) async throws {
        let generation = String(token.generation)
        try await vault.updateLogin(token.login.handle) { state in
            state.auditEvents.append(AuditEvent(.tokenRevealed, [.init(AuditEvent.Detail.Key.generation, generation)]))
        }
    }
}
