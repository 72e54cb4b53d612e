import OAuthClient
import VaultStorage

extension Renewal {
    /// Gives the app's token to the provider in exchange for tokens of its own.
    ///
    /// This spends nothing of the login's chain, so a lost reply leaves no doubt: the app is asked again.
    func exchange(_ claim: RenewalClaim, _ attempt: inout RenewalAttempt?) async -> RenewalMachine.Event {
        guard let current = attempt, let provider = current.provider, let authToken = current.authToken,
            let rules = try? provider.record.profile.exchange,
            let binding = try? ServerBinding(provider.record, for: current.stored.session.attributes)
        else { return .replied(.verdict(.misconfigured)) }
        attempt?.authToken = nil
        // Only now: while the app was deciding, others could ask the provider.
        guard await waitForPermit(at: provider) else { return .replied(.verdict(.withdrawn)) }
        let stored = current.stored
        let recorder = context.channel.recorder(of: .fetch)
        responses.add(recorder)
        let endpoint = TokenEndpoint(
            binding: binding, transport: recorder ?? context.transport, now: vault.wallClock,
            timeLeft: { timeLeft(current) }, nonces: context.serverNonces,
            mayGoOn: { await obstacleNow(current, claim) == nil })
        var dpop = stored.key.flatMap { DPoPContext($0) }
        dpop?.clockOffset = context.health[provider.handle].clockOffset
        let scope = rules.sendsScope ? stored.session.grantedScope.flatMap { try? Scope($0) } : nil
        if let obstacle = await obstacleNow(current, claim) {
            return .replied(.verdict(.notSent(obstacle)))
        }
        budget.begin(uptime: vault.timeSource.uptime())
        let result = await endpoint.exchange(
            AuthTokenExchange(authToken: authToken, rules: rules, scope: scope, dpop: dpop),
            context: ClassificationContext(
                expectedTokenType: stored.key == nil ? .bearer : .dpop, expectedIdentity: stored.identity))
        if let offset = result.clockOffset {
            context.health.change(provider.handle) { $0.clockOffset = offset }
        }
        attempt?.nonces.merge(result.nonces) { _, new in new }
        attempt?.refusal = ClientRefusal(result.outcome, isConfidential: false)
        guard case .success(let issued) = result.outcome else {
            return .replied(.verdict(RenewalFailure(ofExchange: result.outcome)))
        }
        if let current = attempt {
            attempt?.reply = SpooledReply(issued, of: current, startedAt: Timestamp(result.startedAt))
        }
        return .replied(.tokens)
    }
}

extension RenewalFailure {
    /// The meaning of an exchange that brought nothing. It never ends a login: the app's token was refused.
    init(ofExchange outcome: TokenOutcome) {
        self =
            switch outcome {
            case .misconfigured(.client): .clientRefused
            case .misconfigured: .misconfigured
            case .needsUser: .needsUser
            case .dead: .postponed
            case .transient(let failure):
                .transient(retryAfter: failure.retryAfter, doubt: nil, isRejection: false)
            case .success, .partial, .inDoubt, .nonceRequired, .invalidProof, .scopeRefused: .nothingUsable
            }
    }
}
