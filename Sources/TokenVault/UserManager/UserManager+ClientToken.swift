public import OAuthClient
import VaultStorage

extension UserManager {
    /// A good access token of the client itself, for work that is no user's (RFC 6749 §4.4).
    ///
    /// The client authenticates with its sealed secret or key. A token is fetched once for any number of callers, kept
    /// in the memory of this manager, and fetched again when too little of it is left. If that fails and the old one
    /// still meets the request, the old one is returned. Tokens are kept for each resource, scope and set of
    /// parameters.
    ///
    /// ```swift
    /// let token = try await users.clientToken(provider: "billing", TokenRequest(scope: Scope("invoice.read")))
    /// let authorized = try await users.authorize(request, withClientToken: token)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The provider's name in this vault. Its client needs a secret or a key: a public client gets no token.
    ///   - request: The target, and the required validity. Without a scope the provider decides.
    ///   - parameters: Added to the request as they are, such as `audience`. No secret: they are kept with the token.
    ///   - dpop: Whether the token is bound to a key (RFC 9449), which this process makes and keeps in memory. By
    ///     default what the provider's policy demands.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/unknownProvider``, ``VaultError/Code/invalidArgument`` if the
    ///   client is public, ``VaultError/Code/providerMisconfigured`` if the client is refused, and ``VaultError/Code/resourceRefused`` if the provider gives it no token for this
    ///   resource and scope; or, if the calling task is cancelled, `CancellationError`.
    public func clientToken(
        provider name: String, _ request: TokenRequest = TokenRequest(), parameters: [FormParameter] = [],
        dpop: Bool? = nil
    ) async throws -> ClientToken {
        let target = try request.target
        guard parameters.count <= 32, parameters.allSatisfy({ !$0.name.isEmpty && $0.value.utf8.count <= 4_096 }) else {
            throw VaultError(.invalidArgument, "there are up to 32 parameters of at most 4 KiB")
        }
        let provider = try await VaultError.translating { try await vault.store.provider(named: names.provider(name)) }
        let key = ClientTokenKey(
            provider: provider.handle, revision: provider.revision, target: target, parameters: parameters,
            isBound: try provider.record.dpop.wantsKey(dpop))
        let demand: RenewalDemand =
            request.renewsNow ? clientTokens.demandForNewer(key) : .validity(request.minimumValidity)
        var token = try await clientTokens.token(key, of: provider, demand, deadline: request.deadline)
        token.provider = names.plain(provider: token.provider)
        return token
    }

    /// Reports that an API refused this token of the client (401). It is not given out again, and another one is
    /// fetched now: once for any number of reports. A report about a token that has been replaced does nothing.
    public func reportRejected(clientToken token: ClientToken) async throws {
        guard clientTokens.reject(token) else { return }
        let provider = try await VaultError.translating { try await vault.store.provider(token.key.provider) }
        // With a changed registration the next call fetches another token anyway.
        guard provider.revision == token.key.revision else { return }
        _ = try await clientTokens.token(
            token.key, of: provider, .newer(than: Int64(token.generation)), deadline: nil)
    }

    /// Records in the audit trail that this token is about to be shown to a person. Durable when it returns.
    package func recordReveal(of token: ClientToken) async throws {
        try await VaultError.translating {
            try await vault.store.record(AuditEvent(.clientTokenRevealed), of: token.key.provider)
        }
    }
}
