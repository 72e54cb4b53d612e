import Logging
public import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Begins a log-in into an existing login: the new tokens replace its chain. The login keeps its id, its label, its
    /// metadata and the time when it was made.
    ///
    /// ```swift
    /// let request = try await users.beginLogIn(into: .login(login.id))
    /// // The browser gets request.binding as a cookie, goes to request.url, and comes back.
    /// let done = try await users.completeLogIn(.url(callbackURL), boundTo: BrowserBinding(cookie))
    /// ```
    ///
    /// The login may be alive, dead, or terminated before this call: an app that calls this lets the user come back. A
    /// login that is terminated after this call stays so. Until the log-in is completed the login is as it was. Then,
    /// in one transaction, it gets the new tokens, a new key if it is bound to one, and no flag or postponement. A
    /// renewal in progress can no longer change it. The old grant is revoked at its provider, unless that would end the
    /// new one.
    ///
    /// - Parameters:
    ///   - login: The login. It needs a provider.
    ///   - redirectURI: By default the provider's.
    ///   - scope: By default the provider's, not the one of the log-in before.
    ///   - dpop: Whether the login is bound to a key (RFC 9449). By default as it was.
    ///   - loginHint: The account that the provider should expect, such as a mail address.
    ///   - parameters: Further request parameters besides the scope.
    ///   - context: Given back by ``completeLogIn(_:boundTo:expectedUserId:)``: up to 16 values of 1 KiB, sealed.
    ///   - acceptsOtherAccount: Whether the user may choose another account at the provider than before. Otherwise the
    ///     completion throws ``VaultError/Code/otherAccount`` unless the id token names ``Login/subject`` again; where
    ///     the vault knows no subject there is nothing to compare.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/heldBySource`` for a login that another system still renews.
    public func beginLogIn(
        into login: LoginRef, redirectURI: RedirectURI? = nil, scope: Scope? = nil, dpop: Bool? = nil,
        loginHint: String? = nil, parameters: LogInParameters = LogInParameters(), context: [String: String] = [:],
        acceptsOtherAccount: Bool = false
    ) async throws -> AuthorizationRequest {
        try parameters.check()
        let (stored, provider) = try await replaceable(login)
        var wish = LogInRequest(
            redirectURI: redirectURI, scope: scope, dpop: dpop ?? stored.keepsKey(provider.record.dpop),
            loginHint: loginHint, parameters: parameters, context: context)
        wish.target = ReplacedLogin(stored, acceptsOtherAccount: acceptsOtherAccount)
        return try await begin(wish, stored.userId, provider)
    }

    /// Completes a log-in that the app itself began, into an existing login.
    /// See ``beginLogIn(into:redirectURI:scope:dpop:loginHint:parameters:context:acceptsOtherAccount:)``.
    ///
    /// - Parameters:
    ///   - login: The login. It needs a provider.
    ///   - authorizationCode: The code of the callback (RFC 6749 §4.1.2). It works once.
    ///   - codeVerifier: The verifier of the request's code challenge (RFC 7636 §4.1); nil if it had none.
    ///   - redirectURI: The one of the request. By default the provider's.
    ///   - dpopKey: The key that the request named (RFC 9449 §10). By default a new one for a login that was bound to
    ///     one, and where the provider's policy demands one.
    ///   - nonce: OpenID Connect's `nonce` as the app sent it; then the id token must repeat it.
    ///   - resources: The APIs that the request named (RFC 8707 §2), as absolute URIs.
    ///   - acceptsOtherAccount: Whether the account at the provider may be another one than before.
    public func logIn(
        into login: LoginRef, authorizationCode: AuthorizationCode, codeVerifier: CodeVerifier?,
        redirectURI: RedirectURI? = nil, dpopKey: DPoPKey? = nil, nonce: String? = nil, resources: [String] = [],
        acceptsOtherAccount: Bool = false
    ) async throws -> Login {
        var parameters = LogInParameters()
        parameters.resources = resources
        try parameters.check()
        let (stored, provider) = try await replaceable(login)
        let needsKey = try provider.record.dpop.wantsKey(
            dpopKey == nil ? stored.keepsKey(provider.record.dpop) : true)
        var grant = GrantRequest(
            userId: stored.userId, provider: provider, code: authorizationCode, verifier: codeVerifier,
            redirectURI: redirectURI?.rawValue ?? provider.record.redirectURI, scope: provider.record.defaultScope,
            key: dpopKey ?? (needsKey ? .generate() : nil), label: nil)
        grant.nonce = try VaultError.translatingValues { try nonce.map { try IDTokenNonce($0) } }
        grant.resources = resources
        grant.target = ReplacedLogin(stored, acceptsOtherAccount: acceptsOtherAccount)
        do {
            return try await obtain(grant).login
        } catch let error as GrantNotSent {
            throw error.reason
        }
    }

    /// Asks the provider to revoke the grant that a log-in into this login has replaced. Only for programs that end
    /// right after it.
    package func revokeReplaced(of login: LoginID) async throws {
        let due = try await VaultError.translating {
            try await vault.store.dueOutboxEntries(at: vault.now, limit: Self.mostRevokedAtOnce)
        }
        _ = await revoker.revoke(due.filter { $0.record.login == login.handle })
    }

    private static let mostRevokedAtOnce = 1_000
}

extension UserManager {
    private func replaceable(_ login: LoginRef) async throws -> (StoredLogin, StoredProvider) {
        let handle = try await vault.handle(of: login)
        return try await VaultError.translating {
            let stored = try await vault.store.login(handle)
            try stored.requireReplaceable(now: vault.now)
            guard let provider = stored.provider else {
                throw VaultError(
                    .invalidArgument, "this login has no provider at which the user could log in",
                    hint: "set its token, or make a login at a provider")
            }
            return (stored, try await vault.store.provider(provider))
        }
    }

    /// Called before the code is spent.
    func requireReplaceable(_ target: ReplacedLogin) async throws {
        try await VaultError.translating {
            try await vault.store.login(target.login).requireReplaceable(target, now: vault.now)
        }
    }

    /// Puts the tokens of a log-in into the login that they are for.
    func replace(_ target: ReplacedLogin, with draft: LoginDraft, _ request: GrantRequest) async throws -> Login {
        let style = RevocationStyle(request.provider.record)
        let now = vault.now
        let state = try await storing {
            try await vault.change(target.login) { state in
                try state.logInAgain(draft, target, style, now: now)
                return state
            }
        }
        vault.superseding.fire([target.login])
        context.lifetimes.forget(target.login)
        if context.options.retriesRevocationsInBackground { revoker.revokeSoon() }
        return await vault.describe(state)
    }
}

extension ReplacedLogin {
    fileprivate init(_ stored: StoredLogin, acceptsOtherAccount: Bool) {
        self.init(
            login: stored.handle, chain: stored.position.chain, acceptsOtherAccount: acceptsOtherAccount)
    }
}
