import OAuthClient
import VaultCrypto
import VaultStorage

extension RenewalEngine {
    /// Whether it is the login's own token, and nobody has told how long it lives.
    func shouldLearnExpiry(_ reply: SpooledReply) -> Bool {
        reply.target.isOwn && reply.accessToken != nil && (reply.expiresAt == nil || reply.isExpiryAssumed)
    }

    /// Asks the provider when the access token runs out, if it did not tell and its profile says that it can be asked
    /// (RFC 7662). Behind everybody's back: until the answer is there, what the profile assumes holds.
    func learnExpiry(of login: LoginHandle) {
        guard let stored = try? vault.store.login(login), let provider = stored.provider,
            stored.session.expiresAt == nil || stored.session.isExpiryAssumed,
            let token = stored.session.accessToken, let accessToken = token.string().flatMap({ try? AccessToken($0) }),
            let record = try? vault.store.provider(provider).record, let endpoint = introspection(of: record),
            vault.flightStarted()
        else { return }
        Task {
            defer { self.vault.flightEnded() }
            guard case .active(let expiresAt?) = await endpoint.introspect(accessToken) else { return }
            guard case .at(let expiry) = GivenExpiry(expiresAt, now: self.vault.now) else { return }
            // Without an answer, and without a place for it, nothing is lost.
            _ = try? await self.vault.change(login) { state in
                guard state.session.accessToken == token, state.session.state == .established else { return }
                state.session.expiresAt = expiry
                state.session.isExpiryAssumed = false
                state.auditEvents.append(AuditEvent(.loginChanged, [.init("expiry", "introspected")]))
            }
        }
    }

    private func introspection(of record: ProviderRecord) -> IntrospectionEndpoint? {
        guard let profile = try? record.profile, profile.introspectsLifetime,
            let address = record.introspectionEndpoint ?? profile.endpoints.introspection,
            let url = try? EndpointURL(stored: address), let binding = try? ServerBinding(record)
        else { return nil }
        return IntrospectionEndpoint(endpoint: url, binding: binding, transport: transport, now: vault.wallClock)
    }
}
