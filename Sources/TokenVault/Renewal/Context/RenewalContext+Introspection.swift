import OAuthClient
import VaultCrypto
import VaultStorage

extension RenewalContext {
    /// Whether it is the login's own token, and its lifetime is unknown.
    func shouldLearnExpiry(_ reply: SpooledReply) -> Bool {
        reply.target.isOwn && reply.accessToken != nil && (reply.expiresAt == nil || reply.isExpiryAssumed)
    }

    /// Gives a new token the lifetime of the login's earlier ones, if that is known well enough not to ask again.
    ///
    /// - Returns: Whether it was done.
    func assumeKnownLifetime(_ reply: inout SpooledReply) -> Bool {
        guard shouldLearnExpiry(reply), let lifetime = lifetimes.takeLifetime(of: reply.login) else { return false }
        reply.expiresAt = reply.obtainedAt.advanced(by: lifetime)
        reply.isExpiryAssumed = true
        return true
    }

    /// Asks the provider when the access token expires, if the reply did not say so and the provider's profile allows
    /// introspection (RFC 7662). In the background: until the answer arrives, the profile's assumed lifetime applies.
    ///
    /// - Parameter time: The rest of the renewal's time; for a log-in all of it.
    func learnExpiry(of login: LoginHandle, within time: Duration = ReplayPolicy().budget) async {
        guard let stored = try? await vault.store.login(login), let provider = stored.provider,
            stored.session.expiresAt == nil || stored.session.isExpiryAssumed,
            let token = stored.session.accessToken, let accessToken = AccessToken(stored: token),
            let record = try? await vault.store.provider(provider).record,
            let endpoint = introspection(of: record, stored.session.attributes, within: time), vault.flightStarted()
        else { return }
        vault.spawn {
            defer { self.vault.flightEnded() }
            let outcome = await endpoint.introspect(accessToken)
            if case .inactive = outcome { await self.noteInactive(login, token) }
            guard case .active(let expiresAt?) = outcome else { return }
            let now = self.vault.now
            guard case .at(let expiry) = GivenExpiry(expiresAt, now: now) else { return }
            if expiry > now { self.lifetimes.learn(expiry.since(stored.session.obtainedAt), of: login) }
            // Without an answer, or if it cannot be stored, nothing is lost.
            _ = try? await self.vault.change(login) { state in
                guard state.session.accessToken == token, state.session.state == .established else { return }
                state.session.expiresAt = expiry
                state.session.isExpiryAssumed = false
                // Like a token that says so itself: otherwise the next call would request another expired one, and so
                // on.
                if expiry <= now { state.postpone(from: now, retryAfter: nil, random: 1) }
                state.auditEvents.append(
                    AuditEvent(.loginChanged, [.init(AuditEvent.Detail.Key.expiry, "introspected")]))
            }
        }
    }

    /// The provider itself reports its token as inactive. The next renewal waits a while, because the provider may
    /// answer this way for every token.
    private func noteInactive(_ login: LoginHandle, _ token: SecretBytes) async {
        lifetimes.forget(login)
        let notBefore = vault.now.advanced(by: Self.pauseAfterInactiveToken)
        _ = try? await vault.change(login) { state in
            guard state.session.accessToken == token, state.session.state == .established else { return }
            let generation = state.session.accessGeneration ?? state.position.generation
            guard state.session.rejectedGeneration != generation else { return }
            state.session.rejectedGeneration = generation
            state.session.notBefore = notBefore
            state.auditEvents.append(AuditEvent(.tokenRejected, [.cause(.introspected)]))
        }
    }

    private static let pauseAfterInactiveToken = Duration.seconds(60)

    private func introspection(
        of record: ProviderRecord, _ attributes: [String: String], within time: Duration
    ) -> IntrospectionEndpoint? {
        guard time > .zero, let profile = try? record.profile, profile.introspectsLifetime,
            let url = record.introspectionEndpoint.map({ try? EndpointURL(stored: $0, for: attributes) })
                ?? (try? profile.endpoints.introspection?.filled(with: attributes)),
            var binding = try? ServerBinding(record, for: attributes)
        else { return nil }
        binding.limits = binding.limits.within(time)
        return IntrospectionEndpoint(endpoint: url, binding: binding, transport: transport, now: vault.wallClock)
    }
}
