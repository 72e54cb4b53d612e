public import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// Begins a log-in by authorization code and PKCE (RFC 6749 §4.1, RFC 7636). The verifier, and the DPoP key if
    /// there is to be one, lie sealed in the vault until the callback comes, in this or another process.
    ///
    /// - Parameters:
    ///   - userId: The user, as the app calls him. He need not exist yet.
    ///   - name: The provider's name in this vault.
    ///   - redirectURI: By default the provider's.
    ///   - scope: By default the provider's.
    ///   - dpop: Whether the login is bound to a key (RFC 9449). By default what the provider's policy demands.
    ///   - label: To tell this user's logins apart.
    ///   - loginHint: Tells the provider whom to expect.
    public func beginLogIn(
        userId: String, provider name: String, redirectURI: String? = nil, scope: String? = nil, dpop: Bool? = nil,
        label: String? = nil, loginHint: String? = nil
    ) async throws -> AuthorizationRequest {
        let userID = try Self.checked(userId)
        let label = try Self.checkedLabel(label)
        let provider = try VaultError.translating { try vault.store.provider(named: name) }
        guard let endpoint = provider.record.authorizationEndpoint else {
            throw VaultError(.providerMisconfigured, "the provider has no authorization endpoint in this vault")
        }
        let key = try provider.record.dpop.wantsKey(dpop) ? DPoPKey.generate() : nil
        let state = AuthorizationState.random()
        let verifier = CodeVerifier.random()
        let scope = scope ?? provider.record.defaultScope
        let redirectURI = redirectURI ?? provider.record.redirectURI
        let now = vault.now
        let profile = try VaultError.translatingValues { try provider.record.profile }
        var url = try VaultError.translatingValues {
            AuthorizationURL(
                endpoint: try EndpointURL(stored: endpoint), clientID: try ClientID(provider.record.clientID),
                state: state, codeChallenge: profile.client.pkce ? verifier.challenge : nil, redirectURI: redirectURI,
                scope: try scope.map { try Scope($0) }, keyThumbprint: key?.thumbprint, loginHint: loginHint,
                extraParameters: provider.record.parameters.sorted { $0.key < $1.key }
                    .map { FormParameter($0.key, $0.value) } + profile.request.authorizationParameters)
        }
        url.scopeSeparator = profile.request.scopeSeparator
        let pushed = try await push(url, key, provider, profile)
        var record = AuthorizationRequestRecord(
            state: SecretBytes(utf8: state.reveal()), codeVerifier: SecretBytes(utf8: verifier.reveal()),
            provider: provider.handle, userID: userID, redirectURI: redirectURI, scope: scope,
            dpopPrivateKey: key.map { SecretBytes(copying: $0.revealRawRepresentation()) }, label: label,
            createdAt: now, expiresAt: now.advanced(by: engine.options.logInLifetime))
        record.nonces = pushed.nonces
        let sealed = record
        try await VaultError.translating { try await vault.store.putAuthorizationRequest(sealed) }
        return AuthorizationRequest(
            url: pushed.request.map { url.reveal($0) } ?? url.reveal(), state: state.reveal(),
            expiresAt: record.expiresAt.date)
    }

    /// Completes a log-in with the URL to which the provider sent the user's browser, or its query alone. Who
    /// answered is checked if the URL says so (RFC 9207). Each request is completed once.
    public func completeLogIn(callbackURL: String) async throws -> Login {
        let callback = try VaultError.translatingCallback { () throws(AuthorizationCallbackError) in
            try AuthorizationCallback(parsing: callbackURL)
        }
        return try await complete(callback.state) { provider throws(AuthorizationCallbackError) in
            let issuer = provider.issuer.flatMap { try? Issuer($0, allowsInsecureLoopback: true) }
            return try callback.code(
                expectedState: callback.state, issuer: issuer,
                issuerIsRequired: provider.requiresIssuerInCallback)
        }
    }

    /// Completes a log-in with the two parameters of the callback.
    public func completeLogIn(state: String, code: AuthorizationCode) async throws -> Login {
        let state = try VaultError.translatingValues { try AuthorizationState(state) }
        return try await complete(state) { _ in code }
    }

    private func complete(
        _ state: AuthorizationState,
        _ code: (ProviderRecord) throws(AuthorizationCallbackError) -> AuthorizationCode
    ) async throws -> Login {
        let stored = SecretBytes(utf8: state.reveal())
        let request = try await VaultError.translating {
            try await vault.store.takeAuthorizationRequest(state: stored)
        }
        let provider = try VaultError.translating { try vault.store.provider(request.provider) }
        let code = try VaultError.translatingCallback { () throws(AuthorizationCallbackError) in
            try code(provider.record)
        }
        let verifier = try VaultError.translatingValues { try CodeVerifier(request.codeVerifier.string() ?? "") }
        let grant = GrantRequest(
            userID: request.userID, provider: provider, code: code, verifier: verifier,
            redirectURI: request.redirectURI, scope: request.scope,
            key: request.dpopPrivateKey.flatMap { DPoPContext(privateKey: $0)?.key }, nonces: request.nonces,
            label: request.label)
        do {
            return try await obtain(grant)
        } catch let error as GrantNotSent {
            // The code was not used: the same callback may be completed again.
            try await VaultError.translating { try await vault.store.putAuthorizationRequest(request) }
            throw error.reason
        }
    }

    /// Completes a log-in that the app itself began.
    public func logIn(
        userId: String, provider name: String, authorizationCode: AuthorizationCode, codeVerifier: CodeVerifier?,
        redirectURI: String? = nil, dpopKey: DPoPKey? = nil, label: String? = nil
    ) async throws -> Login {
        let userID = try Self.checked(userId)
        let label = try Self.checkedLabel(label)
        let provider = try VaultError.translating { try vault.store.provider(named: name) }
        let needsKey = try provider.record.dpop.wantsKey(dpopKey == nil ? nil : true)
        let grant = GrantRequest(
            userID: userID, provider: provider, code: authorizationCode, verifier: codeVerifier,
            redirectURI: redirectURI ?? provider.record.redirectURI, scope: provider.record.defaultScope,
            key: dpopKey ?? (needsKey ? .generate() : nil), label: label)
        do {
            return try await obtain(grant)
        } catch let error as GrantNotSent {
            throw error.reason
        }
    }
}

extension ProviderRecord.DPoPPolicy {
    /// Whether a login gets a key, given what was asked.
    func wantsKey(_ asked: Bool?) throws -> Bool {
        switch (self, asked) {
        case (.never, true?):
            throw VaultError(.invalidArgument, "DPoP is turned off for this provider")
        case (.required, false?):
            throw VaultError(.invalidArgument, "this provider requires DPoP")
        case (.required, _), (.whenSupported, true?): true
        case (.never, _), (.whenSupported, _): false
        }
    }
}
