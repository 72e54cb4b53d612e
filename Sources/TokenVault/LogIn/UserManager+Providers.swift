public import OAuthClient

extension UserManager {
    /// Adds a provider by its issuer: the endpoints are those of its own metadata (RFC 8414, OpenID Connect Discovery),
    /// which is fetched through this manager's transport.
    ///
    /// ```swift
    /// try await users.addProvider(
    ///     "acme", issuer: "https://login.acme.example", clientID: "my-app", scope: "openid offline_access",
    ///     redirectURI: "https://app.example/callback")
    /// ```
    ///
    /// Plain `http` is accepted for this machine only, if the transport allows it. A provider
    /// without metadata, or with a profile of its own, is added by ``Vault/addProvider(_:of:)``.
    ///
    /// - Parameters:
    ///   - name: The name under which this vault knows it. It must be free.
    ///   - issuer: The issuer, exactly as the provider documents it.
    ///   - clientID: Our registration there.
    ///   - authentication: How our client proves itself. `none` for a public client.
    ///   - scope: The default scope of a log-in; values separated by spaces.
    ///   - redirectURI: The default redirect URI of a log-in.
    ///   - dpop: When logins are bound to a key.
    ///   - tokenCertificate: A certificate for bound tokens, if the client proves itself in another way.
    /// - Throws: ``VaultError``: ``VaultError/Code/invalidArgument`` for an invalid value, and for one that the
    ///   provider does not support; ``VaultError/Code/network`` and ``VaultError/Code/tryLater`` if it cannot be asked
    ///   now; ``VaultError/Code/protocolViolation`` if its metadata cannot be used; ``VaultError/Code/conflict`` if the
    ///   name is taken.
    @discardableResult
    public func addProvider(
        _ name: String, issuer: String, clientID: String, authentication: ClientAuthentication = .none,
        scope: String? = nil, redirectURI: String? = nil, dpop: DPoPPolicy = .optional,
        tokenCertificate: ClientCertificate? = nil
    ) async throws -> Provider {
        try vault.requireOpen()
        let isInsecure = context.allowsInsecureLoopback
        let server = try VaultError.translatingValues { try Issuer(issuer, allowsInsecureLoopback: isInsecure) }
        let (client, scopes, redirect) = try VaultError.translatingValues {
            (
                try ClientID(clientID), try scope.map { try Scope($0) },
                try redirectURI.map { try RedirectURI($0) }
            )
        }
        let metadata = try await metadata(of: server)
        if let refusal = metadata.refusal(of: authentication.methodName, dpop) {
            throw VaultError(.invalidArgument, refusal.reason)
        }
        return try await vault.addProvider(
            ProviderRegistration(
                name: name, metadata: metadata, clientID: client, authentication: authentication, scope: scopes,
                redirectURI: redirect, dpop: dpop, tokenCertificate: tokenCertificate),
            of: names.tenant)
    }
}

extension UserManager {
    /// Returns the provider's own metadata.
    package func metadata(of issuer: Issuer) async throws -> ServerMetadata {
        do throws(DiscoveryError) {
            return try await Discovery.metadata(
                issuer: issuer, transport: context.transport,
                allowsInsecureLoopback: context.allowsInsecureLoopback)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw VaultError(error)
        }
    }
}

/// A feature that the provider's metadata does not support: reported at once, instead of at the first log-in.
package enum MetadataRefusal: Equatable, Sendable {
    case authentication(String, accepted: [String])
    case dpop

    package var reason: String {
        switch self {
        case .authentication(let method, _): "the provider does not accept \(method)"
        case .dpop: "the provider does not support DPoP"
        }
    }
}

extension ServerMetadata {
    package func refusal(of authentication: String, _ dpop: DPoPPolicy) -> MetadataRefusal? {
        let methods = tokenEndpointAuthMethodsSupported
        if !methods.isEmpty, !methods.contains(authentication), authentication != "none" {
            return .authentication(authentication, accepted: methods)
        }
        return dpop == .required && !supportsDPoP ? .dpop : nil
    }
}

extension VaultError {
    /// The refusal for an error in a provider's metadata.
    fileprivate init(_ error: DiscoveryError) {
        if let unsent = error.transportError, unsent.phase == .notSent {
            self.init(unsent: unsent.code)
            return
        }
        let code: Code =
            switch error.code {
            case .unreachable: .network
            case .serverError: .tryLater
            default: .protocolViolation
            }
        self.init(code, error.description)
    }
}
