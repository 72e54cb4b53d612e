public import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Begins a log-in by authorization code and PKCE (RFC 6749 §4.1, RFC 7636). The verifier, and the DPoP key if
    /// there is one, are sealed in the vault until the callback comes, in this or another process.
    ///
    /// ```swift
    /// let request = try await users.beginLogIn(userId: "alice", provider: "acme", context: ["returnTo": "/calendar"])
    /// // Set-Cookie: login=<request.binding.reveal()>; HttpOnly; Secure; SameSite=Lax; Path=/callback
    /// // Location: <request.url>
    /// ```
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them. They need not exist yet.
    ///   - name: The provider's name in this vault.
    ///   - redirectURI: By default the provider's.
    ///   - scope: By default the provider's. With `openid` in it a random nonce is sent, and the id token must repeat
    ///     it.
    ///   - dpop: Whether the login is bound to a key (RFC 9449). By default what the provider's policy demands.
    ///   - label: Distinguishes this user's logins.
    ///   - loginHint: The account that the provider should expect, such as a mail address.
    ///   - parameters: Further request parameters besides the scope.
    ///   - context: Given back by ``completeLogIn(_:boundTo:expectedUserId:)``: up to 16 values of 1 KiB,
    ///     sealed.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/userDisabled``.
    public func beginLogIn(
        userId: String, provider name: String, redirectURI: RedirectURI? = nil, scope: Scope? = nil, dpop: Bool? = nil,
        label: String? = nil, loginHint: String? = nil, parameters: LogInParameters = LogInParameters(),
        context: [String: String] = [:]
    ) async throws -> AuthorizationRequest {
        let wish = LogInRequest(
            redirectURI: redirectURI, scope: scope, dpop: dpop, label: try ArgumentCheck.label(label),
            loginHint: loginHint, parameters: parameters, context: context)
        return try await begin(wish, user: ArgumentCheck.userId(userId), provider: name)
    }

    /// - Parameters:
    ///   - userId: The stored user id.
    ///   - name: The stored name of the provider.
    func begin(_ wish: LogInRequest, user userId: String, provider name: String) async throws -> AuthorizationRequest {
        try ArgumentCheck.requireOneTenant(userId, name)
        try wish.parameters.check()
        // Otherwise the user would consent first, and the code would be spent for nothing.
        try await refuseDisabled(userId)
        let provider = try await VaultError.translating { try await vault.store.provider(named: name) }
        if let uri = wish.redirectURI { try await vault.refuseSharing(uri, with: provider.record) }
        return try await begin(wish, userId, provider)
    }

    /// The requested log-in, checked except for its context.
    struct LogInRequest {
        var redirectURI: RedirectURI?
        var scope: Scope?
        var dpop: Bool?
        var label: String?
        var loginHint: String?
        var parameters: LogInParameters
        var context: [String: String]
        /// The login whose chain the new one replaces.
        var target: ReplacedLogin?
    }

    func begin(
        _ wish: LogInRequest, _ userId: String, _ provider: StoredProvider
    ) async throws -> AuthorizationRequest {
        let (scope, parameters) = (wish.scope, wish.parameters)
        let key = try provider.record.dpop.wantsKey(wish.dpop) ? DPoPKey.generate() : nil
        let verifier = CodeVerifier.random()
        let profile = try VaultError.translatingValues { try provider.record.profile }
        var url = try Self.authorizationURL(
            provider.record, profile, verifier, key, redirectURI: wish.redirectURI, scope: scope,
            loginHint: wish.loginHint)
        url.add(parameters)
        let binding = BrowserBinding.random()
        var record = AuthorizationRequestRecord(
            state: SecretBytes(utf8: url.state.reveal()), codeVerifier: SecretBytes(utf8: verifier.reveal()),
            provider: provider.handle, userId: userId, redirectURI: url.redirectURI,
            scope: scope?.description ?? provider.record.defaultScope,
            dpopPrivateKey: key.map { SecretBytes(copying: $0.revealRawRepresentation()) }, label: wish.label,
            createdAt: vault.now, expiresAt: vault.now.advanced(by: context.options.logInLifetime))
        record.bindingHash = SecretBytes(copying: binding.hash)
        record.context = try Self.checked(wish.context)
        record.target = wish.target
        record.resources = parameters.resources
        record.idTokenNonce = url.nonce.map { SecretBytes(utf8: $0.reveal()) }
        record.maximumAge = url.maximumAge
        let pushed = try await push(url, key, provider, profile)
        record.nonces = pushed.nonces
        let sealed = record
        try await VaultError.translating { try await vault.store.putAuthorizationRequest(sealed) }
        return AuthorizationRequest(
            url: pushed.request.map { url.reveal($0) } ?? url.reveal(), state: url.state.reveal(), binding: binding,
            urlExpiresAt: min(pushed.expiresAt ?? record.expiresAt, record.expiresAt).date,
            expiresAt: record.expiresAt.date)
    }

    /// Completes a log-in with the provider's message to the redirect URI. If an id token comes, it is checked. Each
    /// request is completed once.
    ///
    /// ```swift
    /// let done = try await users.completeLogIn(.url(callbackURL), boundTo: BrowserBinding(cookie))
    /// ```
    ///
    /// - Parameters:
    ///   - callback: The URL that the user's browser asked for.
    ///   - binding: The value of this browser's cookie, see ``AuthorizationRequest/binding``. Without a cookie this is
    ///   not the browser that began: refuse the callback.
    ///   - expectedUserId: The user in whose session the callback came. Then a log-in that was begun for another user
    ///   is refused.
    /// - Throws: ``VaultError``, ``VaultError/Code/logInNotBound`` for another browser or user. The log-in can still be
    ///   completed in the one that began it.
    public func completeLogIn(
        _ callback: LogInCallback, boundTo binding: BrowserBinding, expectedUserId: String? = nil
    ) async throws -> CompletedLogIn {
        try await complete(
            callback, .browser(SecretBytes(copying: binding.hash)),
            expectedUserId.map { try ArgumentCheck.userId($0) })
    }

    /// Completes a log-in regardless of the browser: for command lines, where the same person begins the log-in and
    /// brings the callback.
    ///
    /// Otherwise an attacker can send the URL of their own log-in to a victim, and gets the victim's tokens if the
    /// victim consents (RFC 9700 §4.7). A service with browsers uses
    /// ``completeLogIn(_:boundTo:expectedUserId:)``.
    package func completeUnboundLogIn(_ callback: LogInCallback) async throws -> CompletedLogIn {
        try await complete(callback, .unbound, nil)
    }

    /// Completes a log-in that the app itself began, and bound to a browser.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls them. They need not exist yet.
    ///   - name: The provider's name in this vault.
    ///   - authorizationCode: The code of the callback (RFC 6749 §4.1.2). It works once.
    ///   - codeVerifier: The verifier of the request's code challenge (RFC 7636 §4.1); nil if it had none.
    ///   - redirectURI: The one of the request. By default the provider's.
    ///   - dpopKey: The key that the request named (RFC 9449 §10). By default a new one where the provider's policy
    ///     demands one.
    ///   - label: Distinguishes this user's logins.
    ///   - nonce: OpenID Connect's `nonce` as the app sent it; then the id token must repeat it.
    ///   - resources: The APIs that the request named (RFC 8707 §2), as absolute URIs.
    /// - Throws: ``VaultError`` or, if the calling task is cancelled, `CancellationError`.
    public func logIn(
        userId: String, provider name: String, authorizationCode: AuthorizationCode, codeVerifier: CodeVerifier?,
        redirectURI: RedirectURI? = nil, dpopKey: DPoPKey? = nil, label: String? = nil, nonce: String? = nil,
        resources: [String] = []
    ) async throws -> Login {
        let userId = try ArgumentCheck.userId(userId)
        try ArgumentCheck.requireOneTenant(userId, name)
        let label = try ArgumentCheck.label(label)
        var parameters = LogInParameters()
        parameters.resources = resources
        try parameters.check()
        let provider = try await VaultError.translating { try await vault.store.provider(named: name) }
        let needsKey = try provider.record.dpop.wantsKey(dpopKey == nil ? nil : true)
        var grant = GrantRequest(
            userId: userId, provider: provider, code: authorizationCode, verifier: codeVerifier,
            redirectURI: redirectURI?.rawValue ?? provider.record.redirectURI, scope: provider.record.defaultScope,
            key: dpopKey ?? (needsKey ? .generate() : nil), label: label)
        grant.nonce = try VaultError.translatingValues { try nonce.map { try IDTokenNonce($0) } }
        grant.resources = resources
        do {
            return try await obtain(grant).login
        } catch let error as GrantNotSent {
            throw error.reason
        }
    }
}

extension UserManager {
    /// - Parameters:
    ///   - userId: The stored user id.
    ///   - tenant: The tenant that the log-in must belong to.
    func complete(
        _ callback: LogInCallback, _ binding: CallbackProof.Binding, _ userId: String?, of tenant: Tenant? = nil
    ) async throws -> CompletedLogIn {
        switch callback.content {
        case .url(let url):
            let callback = try VaultError.translatingCallback { () throws(AuthorizationCallbackError) in
                try AuthorizationCallback(parsing: url)
            }
            return try await complete(callback, at: url, binding, userId, tenant)
        case .parameters(let state, let code, let issuer):
            let state = try VaultError.translatingValues { try AuthorizationState(state) }
            let callback = AuthorizationCallback(state: state, code: code, issuer: issuer)
            return try await complete(callback, at: nil, binding, userId, tenant)
        }
    }

    private func complete(
        _ callback: AuthorizationCallback, at url: String?, _ binding: CallbackProof.Binding, _ userId: String?,
        _ tenant: Tenant?
    ) async throws -> CompletedLogIn {
        var proof = CallbackProof(state: SecretBytes(utf8: callback.state.reveal()), binding: binding, userId: userId)
        proof.userIdPrefix = tenant?.qualify("")
        let request = try await VaultError.translating { try await vault.store.takeAuthorizationRequest(proof) }
        let provider = try await VaultError.translating { try await vault.store.provider(request.provider) }
        let code: AuthorizationCode
        do {
            code = try Self.code(of: callback, at: url, request, provider.record)
        } catch {
            // A user who copied only a part may bring the rest.
            if url == nil, callback.issuer == nil { try await putBack(request) }
            throw error
        }
        do {
            let (login, claims) = try await obtain(GrantRequest(request, provider, code))
            return CompletedLogIn(login: login, context: request.context, claims: claims)
        } catch let error as GrantNotSent {
            // The code was not used: the same callback may be completed again.
            try await putBack(request)
            throw error.reason
        }
    }

    private func putBack(_ request: AuthorizationRequestRecord) async throws {
        try await VaultError.translating { try await vault.store.putAuthorizationRequest(request) }
    }

    /// Returns the code, if the callback is from the server that was asked (RFC 9700 §4.4): checked by its name, and by
    /// the URL that it came to.
    private static func code(
        of callback: AuthorizationCallback, at url: String?, _ request: AuthorizationRequestRecord,
        _ provider: ProviderRecord
    ) throws -> AuthorizationCode {
        let code = try VaultError.translatingCallback { () throws(AuthorizationCallbackError) in
            try callback.code(
                expectedState: callback.state,
                issuer: provider.issuer.flatMap { try? Issuer($0, allowsInsecureLoopback: true) },
                issuerIsRequired: provider.requiresIssuerInCallback)
        }
        if let url, let uri = request.redirectURI.flatMap({ try? RedirectURI($0) }), !uri.leads(to: url) {
            throw VaultError(
                .protocolViolation, "the callback came to another address than the redirect URI of this log-in",
                hint: "if the provider is the right one, check the redirect URI that is registered there; "
                    + "otherwise do not use the callback: it may be forged")
        }
        return code
    }

    private static func authorizationURL(
        _ record: ProviderRecord, _ profile: ProviderProfile, _ verifier: CodeVerifier, _ key: DPoPKey?,
        redirectURI: RedirectURI?, scope: Scope?, loginHint: String?
    ) throws -> AuthorizationURL {
        guard let endpoint = record.authorizationEndpoint else {
            throw VaultError(.providerMisconfigured, "the provider has no authorization endpoint in this vault")
        }
        return try VaultError.translatingValues {
            let scope = try scope ?? record.defaultScope.map { try Scope($0) }
            var url = AuthorizationURL(
                endpoint: try EndpointURL(stored: endpoint), clientID: try ClientID(record.clientID),
                state: .random(), codeChallenge: profile.client.pkce ? verifier.challenge : nil,
                redirectURI: redirectURI?.rawValue ?? record.redirectURI, scope: scope, keyThumbprint: key?.thumbprint,
                loginHint: loginHint,
                extraParameters: record.parameters.sorted { $0.key < $1.key }.map { FormParameter($0.key, $0.value) }
                    + profile.request.authorizationParameters)
            url.scopeSeparator = profile.request.scopeSeparator
            if scope?.asksForIDToken == true { url.nonce = .random() }
            return url
        }
    }

    /// The app's context, within bounds: it is kept until the callback comes.
    static func checked(_ context: [String: String]) throws -> [String: String] {
        guard context.count <= 16, context.allSatisfy({ $0.utf8.count <= 64 && $1.utf8.count <= 1_024 }) else {
            throw VaultError(.invalidArgument, "a log-in's context has up to 16 values of at most 1 KiB")
        }
        return context
    }
}

extension Scope {
    /// OpenID Connect Core §3.1.2.1.
    var asksForIDToken: Bool { tokens.contains("openid") }
}

extension AuthorizationURL {
    fileprivate mutating func add(_ parameters: LogInParameters) {
        resources = parameters.resources
        prompt = parameters.prompt
        maximumAge = parameters.maximumAge.map { $0.components.seconds }
        contextClasses = parameters.contextClasses
        authorizationDetails = parameters.authorizationDetails
        extraParameters = parameters.extra + extraParameters
    }
}
