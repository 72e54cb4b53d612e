import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

/// One request for a token of the client itself, and what its outcome means.
struct ClientTokenFetch {
    enum End: Sendable {
        case issued(IssuedTokens, startedAt: Timestamp)
        case failed(VaultError, pause: Pause)
    }

    /// How long to wait after the n-th failure in a row.
    enum Pause: Sendable {
        /// No pause for this token: the provider's breaker decides how long to wait.
        case none
        case backoff
        /// The provider considered the request and refused it.
        case refusal

        func callAsFunction(afterFailures failures: Int, retryAfter: Duration?, random: Double) -> Duration {
            switch self {
            case .none: .zero
            case .backoff: Backoff.renewal.pause(afterFailures: failures, retryAfter: retryAfter, random: random)
            case .refusal: Backoff.breaker.first
            }
        }
    }

    struct Result: Sendable {
        var end: End
        var outcome: RenewalOutcome
        var nonces: [String: DPoPNonce] = [:]
    }

    let context: RenewalContext
    let key: ClientTokenKey
    let provider: StoredProvider

    private var vault: Vault { context.vault }

    func run(_ proof: DPoPContext?) async -> Result {
        guard let binding = try? ServerBinding(provider.record) else {
            return refused(
                provider.record.dependsOnLogins
                    ?? VaultError(.providerMisconfigured, "the stored data of this provider cannot be used"))
        }
        guard !provider.record.isPublicClient else {
            return refused(
                VaultError(
                    .invalidArgument, "a public client gets no token of its own",
                    hint: "give the provider the client's secret or key, if the client has one"))
        }
        guard await waitForPermit() else { return closed }
        var isUnused = true
        defer { if provider.record.rateLimits != nil { context.limiter.end(provider.handle, isUnused: isUnused) } }
        if let until = context.probe(provider) {
            return Result(
                end: .failed(VaultError(.breakerOpen(until: until), now: vault.now), pause: .none),
                outcome: .refused)
        }
        isUnused = false
        let recorder = context.channel.recorder(of: .fetch)
        let endpoint = TokenEndpoint(
            binding: binding, transport: recorder ?? context.transport, now: vault.wallClock,
            nonces: context.serverNonces)
        let moment = context.health[provider.handle].breaker.moment
        let attempt = await endpoint.clientCredentials(
            scope: key.target.scope.flatMap { try? Scope($0) }, insistsOnScope: true,
            resources: key.target.resource.map { [$0] } ?? [], dpop: proof, extraParameters: key.parameters)
        if let offset = attempt.clockOffset { context.health.change(provider.handle) { $0.clockOffset = offset } }
        var result = await classify(attempt, moment)
        result.nonces = attempt.nonces
        recorder?.announce()
        return result
    }

    private func waitForPermit() async -> Bool {
        guard let limits = provider.record.rateLimits else { return !vault.isClosing }
        guard await context.limiter.begin(context.limiter.newID(), provider.handle, limits, .caller) else {
            return false
        }
        guard vault.isClosing else { return true }
        context.limiter.end(provider.handle, isUnused: true)
        return false
    }

    private func classify(_ attempt: TokenAttempt, _ moment: Int) async -> Result {
        let answer = attempt.answer(hiding: provider.record.clientSecrets.compactMap { $0.string() })
        switch attempt.outcome {
        case .success(let issued):
            // Requests with refresh tokens use the accepted secret, too.
            if attempt.refusedSecrets > 0 { _ = await context.promote(attempt.refusedSecrets, of: provider) }
            context.health.change(provider.handle) { $0.breaker.close() }
            return Result(end: .issued(issued, startedAt: Timestamp(attempt.startedAt)), outcome: .renewed)
        case .misconfigured(.client(let code)) where code != .unsupportedGrantType:
            context.openBreaker(provider, moment: moment)
            let error = VaultError(
                .providerMisconfigured, "the provider refused this client", hint: VaultError.registrationHint,
                answer: answer)
            return Result(end: .failed(error, pause: .none), outcome: .misconfigured)
        case .misconfigured(.wrongTokenType), .partial:
            return Result(
                end: .failed(
                    VaultError(
                        .protocolViolation, "the provider's reply has no access token that may be used",
                        answer: answer),
                    pause: .refusal), outcome: .misconfigured)
        case .misconfigured, .scopeRefused, .dead, .needsUser: return refused(refusal(answer))
        case .nonceRequired, .invalidProof:
            return transient(
                VaultError(.tryLater, "the provider did not take the proof of the client's key", answer: answer))
        // This request spends nothing: a lost reply is simply requested again.
        case .inDoubt:
            return transient(VaultError(.tryLater, "no usable reply came", answer: answer))
        case .transient(let failure):
            if case .notSent(let code) = failure.cause { return transient(VaultError(unsent: code)) }
            return transient(
                VaultError(
                    .tryLater, "the provider gave no token this time", retryAfter: failure.retryAfter,
                    answer: answer))
        }
    }

    /// The error for a refused resource or scope, or for a client that may get no token at all.
    private func refusal(_ answer: ProviderAnswer?) -> VaultError {
        if key.target.isOwn {
            return VaultError(
                .providerMisconfigured, "the provider gives this client no token of its own",
                hint: "check at the provider whether the client may use the grant client_credentials, and name a scope",
                answer: answer)
        }
        return VaultError(
            .resourceRefused, "the provider gives no token for this resource or scope",
            hint: "compare the resource and the scope with what this client is registered for", answer: answer)
    }

    private func refused(_ error: VaultError) -> Result {
        Result(
            end: .failed(error, pause: .refusal),
            outcome: error.code == .resourceRefused ? .targetRefused : .misconfigured)
    }

    private func transient(_ error: VaultError) -> Result {
        Result(end: .failed(error, pause: .backoff), outcome: .transient)
    }

    private var closed: Result {
        Result(end: .failed(VaultError(.closed, now: vault.now), pause: .none), outcome: .refused)
    }
}
