public import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Begins a log-in by authorization code and PKCE (RFC 6749 §4.1, RFC 7636). The verifier, and the DPoP key if
    /// there is one, are sealed in the vault until the callback comes, in this or another process.
    ///
    /// ```swift
    /// let request = try await users.beginLogIn(
    ///     LogInRequest(userId: "alice", provider: "acme", context: ["returnTo": "/calendar"]))
    /// // Set-Cookie: login=<request.binding.reveal()>; HttpOnly; Secure; SameSite=Lax; Path=/callback
    /// // Location: <request.url>
    /// ```
    ///
    /// - Throws: ``VaultError``, such as ``VaultError/Code/userDisabled``; ``VaultError/Code/heldBySource`` for a login that
    ///   another system still renews.
    public func beginLogIn(_ request: LogInRequest) async throws -> AuthorizationRequest {
        let logIn = try await check(request)
        if let pending = try pendingStepUp(like: logIn) { return pending }
        return try await begin(logIn, triesLeft: Self.mostBeginnings)
    }

    /// How many times a log-in that adds scope is begun, because others began while it was being pushed.
    private static let mostBeginnings = 3

    private func begin(_ logIn: CheckedLogIn, triesLeft: Int) async throws -> AuthorizationRequest {
        let request = logIn.request
        let provider = logIn.provider
        var parameters = request.parameters
        parameters.resources = logIn.resources
        if let uri = request.redirectURI { try await vault.refuseSharing(uri, with: provider.record) }
        let key = try provider.record.dpop.wantsKey(logIn.dpop) ? DPoPKey.generate() : nil
        let verifier = CodeVerifier.random()
        let profile = try VaultError.translatingValues { try provider.record.profile }
        var url = try Self.authorizationURL(
            provider.record, profile, verifier, key, redirectURI: request.redirectURI, scope: logIn.scope,
            loginHint: request.loginHint, values: logIn.values)
        url.add(parameters)
        let binding = BrowserBinding.random()
        var record = AuthorizationRequestRecord(
            state: SecretBytes(utf8: url.state.reveal()), codeVerifier: SecretBytes(utf8: verifier.reveal()),
            provider: provider.handle, userId: logIn.userId, redirectURI: url.redirectURI,
            scope: logIn.scope.map { $0.isEmpty ? nil : $0.description } ?? provider.record.defaultScope,
            dpopPrivateKey: key.map { SecretBytes(copying: $0.revealRawRepresentation()) }, label: logIn.label,
            createdAt: vault.now, expiresAt: vault.now.advanced(by: context.options.logInLifetime))
        record.bindingHash = SecretBytes(copying: binding.hash)
        record.context = logIn.context
        record.target = logIn.target
        record.variables = logIn.values
        record.resources = parameters.resources
        record.resource = logIn.resource
        record.idTokenNonce = url.nonce.map { SecretBytes(utf8: $0.reveal()) }
        record.maximumAge = url.maximumAge
        let pushed = try await push(url, key, provider, profile, logIn.values)
        record.nonces = pushed.nonces
        let urlExpiresAt = min(pushed.expiresAt ?? record.expiresAt, record.expiresAt)
        let text = pushed.request.map { url.reveal($0) } ?? url.reveal()
        if request.adding != nil {
            // Another one may have been begun meanwhile, by this process or another.
            let now = try await check(request)
            if let pending = try pendingStepUp(like: now) { return pending }
            if triesLeft > 1, let scope = now.scope, logIn.scope?.contains(scope) == false {
                return try await begin(now, triesLeft: triesLeft - 1)
            }
            record.stepUp = PendingStepUp(
                url: SecretBytes(utf8: request.isPlainStepUp ? text : ""),
                binding: SecretBytes(utf8: request.isPlainStepUp ? binding.reveal() : ""), urlExpiresAt: urlExpiresAt)
        }
        let sealed = record
        try await VaultError.translating { try await vault.store.putAuthorizationRequest(sealed, of: logIn.user) }
        return AuthorizationRequest(
            url: text, state: url.state.reveal(), binding: binding, urlExpiresAt: urlExpiresAt.date,
            expiresAt: record.expiresAt.date, redirectURI: record.redirectURI,
            issuer: provider.record.requiresIssuerInCallback ? provider.record.issuer : nil)
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
    ///   - tenant: The tenant of that user, for a service whose tenants share one redirect URI; then a log-in that was begun in
    ///     another tenant, or in none, is refused. Nil: the manager's own, see ``scoped(to:)``. Without an expected user,
    ///     a manager of no tenant then takes the log-ins of all: ``CompletedLogIn/tenant`` says whose it was.
    /// - Throws: ``VaultError``, ``VaultError/Code/logInNotBound`` for another browser, user or tenant. The log-in can still be
    ///   completed in the one that began it.
    public func completeLogIn(
        _ callback: LogInCallback, boundTo binding: BrowserBinding, expectedUserId: String? = nil,
        of tenant: Tenant? = nil
    ) async throws -> CompletedLogIn {
        let expected = tenant.map { TenantScope(tenant: $0) } ?? names
        return try await complete(
            callback, .browser(SecretBytes(copying: binding.hash)), expectedUserId.map { try expected.user($0).text },
            of: tenant)
    }

    /// Completes a log-in regardless of the browser: for command lines, where the same person begins the log-in and
    /// brings the callback.
    ///
    /// Otherwise an attacker can send the URL of their own log-in to a victim, and gets the victim's tokens if the
    /// victim consents (RFC 9700 §4.7). A service with browsers uses
    /// ``completeLogIn(_:boundTo:expectedUserId:of:)``.
    package func completeUnboundLogIn(_ callback: LogInCallback) async throws -> CompletedLogIn {
        try await complete(callback, .unbound, nil)
    }

    /// Completes a log-in that the app itself began.
    ///
    /// - Parameters:
    ///   - request: Its user or login, and the redirect URI, scope and resources that were asked for. Its DPoP setting, context
    ///     and login hint belong to the app's own request.
    ///   - authorizationCode: The code of the callback (RFC 6749 §4.1.2). It works once.
    ///   - codeVerifier: The verifier of the request's code challenge (RFC 7636 §4.1); nil if it had none.
    ///   - dpopKey: The key that the request named (RFC 9449 §10). By default a new one where the provider's policy, or the
    ///     login that is replaced, demands one.
    ///   - nonce: OpenID Connect's `nonce` as the app sent it; then the id token must repeat it.
    /// - Throws: ``VaultError`` or, if the calling task is cancelled, `CancellationError`.
    public func logIn(
        _ request: LogInRequest, authorizationCode: AuthorizationCode, codeVerifier: CodeVerifier?,
        dpopKey: DPoPKey? = nil, nonce: String? = nil
    ) async throws -> Login {
        let logIn = try await check(request)
        let provider = logIn.provider
        let needsKey = try provider.record.dpop.wantsKey(dpopKey == nil ? logIn.dpop : true)
        var grant = GrantRequest(
            userId: logIn.userId, provider: provider, code: authorizationCode, verifier: codeVerifier,
            redirectURI: request.redirectURI?.rawValue ?? provider.record.redirectURI,
            scope: logIn.scope?.description ?? provider.record.defaultScope,
            key: dpopKey ?? (needsKey ? .generate() : nil), label: logIn.label)
        grant.nonce = try VaultError.translatingValues { try nonce.map { try IDTokenNonce($0) } }
        grant.resources = logIn.resources
        grant.resource = logIn.resource
        grant.isStepUp = request.adding != nil
        grant.maximumAge = request.parameters.maximumAge
        grant.target = logIn.target
        grant.attributes = logIn.values
        do {
            return names.plain(try await obtain(grant).login)
        } catch let error as GrantNotSent {
            throw error.reason
        }
    }
}

extension UserManager {
    /// - Parameters:
    ///   - userId: The stored user id.
    ///   - tenant: In which the log-in must have been begun, in addition to the manager's own.
    func complete(
        _ callback: LogInCallback, _ binding: CallbackProof.Binding, _ userId: String?, of tenant: Tenant? = nil
    ) async throws -> CompletedLogIn {
        switch callback.content {
        case .url(let url):
            let callback = try VaultError.translatingCallback { () throws(AuthorizationCallbackError) in
                let callback = try AuthorizationCallback(parsingAny: url)
                guard callback.mayBeAnswer else { throw AuthorizationCallbackError(.missingAnswer) }
                return callback
            }
            return try await complete(callback, at: url, binding, userId, tenant)
        case .parameters(let state, let code, let issuer, let others):
            let state = try VaultError.translatingValues { try AuthorizationState(state) }
            let callback = AuthorizationCallback(state: state, code: code, issuer: issuer, parameters: others)
            return try await complete(callback, at: nil, binding, userId, tenant)
        }
    }

    private func complete(
        _ callback: AuthorizationCallback, at url: String?, _ binding: CallbackProof.Binding, _ userId: String?,
        _ tenant: Tenant?
    ) async throws -> CompletedLogIn {
        var proof = CallbackProof(state: SecretBytes(utf8: callback.state.reveal()), binding: binding, userId: userId)
        proof.tenantPrefix = tenant?.qualify("")
        proof.userIdPrefix = names.tenant?.qualify("")
        let request = try await VaultError.translating { try await vault.store.takeAuthorizationRequest(proof) }
        let provider = try await VaultError.translating { try await vault.store.provider(request.provider) }
        let code: AuthorizationCode
        let profile = try VaultError.translatingValues { try provider.record.profile }
        do {
            code = try Self.code(of: callback, at: url, request, provider.record, named: profile.callback.code)
        } catch {
            // A user who copied only a part may bring the rest.
            let isPart = url == nil ? callback.issuer == nil : callback.isIncomplete(code: profile.callback.code)
            if isPart { try await putBack(request) }
            throw error
        }
        do {
            var grant = try GrantRequest(request, provider, code)
            grant.attributes.merge(profile.kept(of: callback.parameters)) { own, _ in own }
            let (login, claims) = try await obtain(grant)
            return CompletedLogIn(login, names, context: request.context, claims: claims, profile)
        } catch let error as GrantNotSent {
            // The code was not used: the same callback may be completed again.
            try await putBack(request, of: error.user)
            throw error.reason
        }
    }

    private func putBack(_ request: AuthorizationRequestRecord, of user: UserHandle? = nil) async throws {
        try await VaultError.translating { try await vault.store.putAuthorizationRequest(request, of: user) }
    }

    /// Returns the code, if the callback is from the server that was asked (RFC 9700 §4.4): checked by its name, and by
    /// the URL that it came to.
    private static func code(
        of callback: AuthorizationCallback, at url: String?, _ request: AuthorizationRequestRecord,
        _ provider: ProviderRecord, named name: String
    ) throws -> AuthorizationCode {
        let code = try VaultError.translatingCallback { () throws(AuthorizationCallbackError) in
            try callback.code(
                expectedState: callback.state,
                issuer: provider.issuer.flatMap { try? Issuer($0, allowsInsecureLoopback: true) },
                issuerIsRequired: provider.requiresIssuerInCallback, named: url == nil ? "code" : name)
        }
        if let url, let uri = request.redirectURI.flatMap({ try? RedirectURI($0) }), !uri.leads(to: url) {
            throw VaultError(
                .protocolViolation, "the callback came to another address than the redirect URI of this log-in",
                hint: "this log-in has ended, and its redirect URI is \(uri): begin the log-in again; if the provider "
                    + "is the right one, check what is registered there; otherwise the callback may be forged")
        }
        return code
    }

    private static func authorizationURL(
        _ record: ProviderRecord, _ profile: ProviderProfile, _ verifier: CodeVerifier, _ key: DPoPKey?,
        redirectURI: RedirectURI?, scope: Scope?, loginHint: String?, values: [String: String]
    ) throws -> AuthorizationURL {
        guard let endpoint = record.authorizationEndpoint else {
            throw VaultError(
                .providerMisconfigured, "the provider has no authorization endpoint in this vault",
                hint: "ask the provider again: vaultctl provider update NAME --rediscover; or name the endpoint: "
                    + "--authorization-endpoint URL")
        }
        return try VaultError.translatingValues {
            let scope = try scope ?? record.defaultScope.map { try Scope($0) }
            let parameters = try profile.request.authorizationParameters.filled(with: values)
            var url = AuthorizationURL(
                endpoint: try EndpointURL(stored: endpoint, for: values), clientID: try ClientID(record.clientID),
                state: .random(),
                codeChallenge: profile.usesPKCE(publicClient: record.isPublicClient) ? verifier.challenge : nil,
                redirectURI: redirectURI?.rawValue ?? record.redirectURI, scope: scope, keyThumbprint: key?.thumbprint,
                loginHint: loginHint,
                extraParameters: record.parameters.sorted { $0.key < $1.key }.map { FormParameter($0.key, $0.value) }
                    + parameters)
            url.names = profile.request.names
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
