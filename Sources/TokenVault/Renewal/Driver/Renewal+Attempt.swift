import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension Renewal {
    /// Sends the refresh token, once.
    func send(_ claim: RenewalClaim, _ attempt: inout RenewalAttempt?) async -> RenewalMachine.Event {
        guard let current = attempt, let provider = current.provider,
            let text = current.stored.refresh?.refreshToken?.string(),
            let refreshToken = try? RefreshToken(received: text),
            let binding = try? ServerBinding(provider.record, for: current.stored.session.attributes)
        else {
            // The stored data cannot be sent: neither this grant nor others are at fault.
            return .replied(.verdict(.misconfigured))
        }
        let stored = current.stored
        let recorder = context.channel.recorder(of: .refresh)
        responses.add(recorder)
        let endpoint = TokenEndpoint(
            binding: binding, transport: recorder ?? context.transport, now: vault.wallClock,
            timeLeft: { timeLeft(current) }, nonces: context.serverNonces,
            mayGoOn: { await obstacleNow(current, claim) == nil })
        var dpop = stored.key.flatMap { DPoPContext($0) }
        dpop?.clockOffset = context.health[provider.handle].clockOffset
        let scope =
            claim.target.scope ?? (binding.style.sendsScopeOnRefresh ? stored.session.grantedScope : nil)
        let classification = await ClassificationContext(
            expectedTokenType: stored.key == nil ? .bearer : .dpop,
            inDoubtIntentExisted: claim.isInDoubt,
            rejections: rejections(current, provider),
            expectedIdentity: stored.identity)
        var exchange = RefreshRequest(
            refreshToken: refreshToken, scope: scope.flatMap { try? Scope($0) }, dpop: dpop)
        exchange.resources = (claim.target.resource ?? stored.session.resource).map { [$0] } ?? []
        exchange.insistsOnScope = claim.target.scope != nil
        guard hasTimeForRequest(current) else { return .replied(.verdict(.notSent(.outOfTime))) }
        if let obstacle = await obstacle(current, claim) { return .replied(.verdict(.notSent(obstacle))) }
        budget.begin(uptime: vault.timeSource.uptime())
        let result = await endpoint.refresh(exchange, context: classification)
        // The first request carried no refresh token. This login's time may have been over when it was answered.
        if result.grantsSent == 0, result.requestsSent > 0,
            let obstacle = await obstacleNow(current, claim)
        {
            return .replied(.verdict(.notSent(obstacle)))
        }
        if let offset = result.clockOffset {
            context.health.change(provider.handle) { $0.clockOffset = offset }
        }
        attempt?.nonces.merge(result.nonces) { _, new in new }
        attempt?.leavesDoubt = result.leavesDoubt
        attempt?.answer = result.answer(
            hiding: [text] + provider.record.clientSecrets.compactMap { $0.string() })
        attempt?.unreportedRepeats = max(0, result.grantsSent - 1)
        if let answer = attempt?.answer, answer.failure?.isPermanent == true {
            vault.logger.warning(
                "the transport cannot send this provider's renewals",
                metadata: [
                    "vault-provider-handle": "\(provider.handle.text)", "vault-provider-answer": "\(answer)",
                ])
        }
        if let reply = result.doubtfulReply { await keep(reply, claim, movesOn: result.outcome.movesOn) }
        attempt?.refusal = ClientRefusal(result.outcome, isConfidential: !provider.record.isPublicClient)
        let startedAt = Timestamp(result.startedAt)
        if let current = attempt {
            switch result.outcome {
            case .success(let issued):
                var reply = SpooledReply(issued, of: current, startedAt: startedAt)
                attempt?.hasKnownLifetime = context.assumeKnownLifetime(&reply)
                attempt?.reply = reply
            case .partial(let partial): attempt?.reply = SpooledReply(partial, of: current, startedAt: startedAt)
            default: break
            }
        }
        let reply = RenewalReply(result, for: claim.target)
        guard reply == .verdict(.inDoubt(mayReplay: false)) else { return .replied(reply) }
        return await .replied(.verdict(.inDoubt(mayReplay: mayReplay(claim, current, startedAt))))
    }

    /// The provider's earlier refusals of this login, and whether other logins there fared better meanwhile.
    private func rejections(
        _ attempt: RenewalAttempt, _ provider: StoredProvider
    ) async -> OAuthClient.RejectionHistory? {
        guard let history = attempt.stored.session.rejections else { return nil }
        let span = max(.zero, vault.span(since: history.since).atLeast)
        let limit = (try? provider.record.profile.reply.rejectionLimit) ?? ReplyRules.rfc.rejectionLimit
        // Read only where it decides.
        let isAtLimit = history.count >= limit.count - 1 && span >= limit.span
        var evidence = false
        if isAtLimit {
            evidence = await context.successes.isKnown(
                at: provider.handle, than: login, since: history.since, vault)
        }
        return OAuthClient.RejectionHistory(count: history.count, span: span, othersSucceeded: evidence)
    }

    private func mayReplay(_ claim: RenewalClaim, _ attempt: RenewalAttempt, _ startedAt: Timestamp) async -> Bool {
        guard hasTimeForRequest(attempt, after: Self.pauseBeforeReplay) else { return false }
        let situation = await ReplayPolicy.Situation(
            vault.span(since: claim.doubtSince ?? startedAt), tries: claim.tries,
            hasOtherLogins: hasOtherLogins(attempt))
        return attempt.policy.answer(situation) == .atOnce
    }

    /// Whether other logins of the user could be harmed, where that is a question.
    func hasOtherLogins(_ attempt: RenewalAttempt) async -> Bool {
        guard attempt.policy.asksForOtherLogins, let provider = attempt.provider?.handle else { return false }
        return await vault.hasOtherLogins(than: login, of: attempt.stored.userId, at: provider)
    }
}

/// A reply that may mean that the provider no longer accepts the client's secret.
enum ClientRefusal: Sendable {
    /// The reply says so, in one way or another.
    case told
    /// An empty refusal, which the profile treats as the end of the login; a wrong secret would look the same.
    case bare

    init?(_ outcome: TokenOutcome, isConfidential: Bool) {
        switch outcome {
        // Some servers answer a wrong secret with unauthorized_client.
        case .misconfigured(.client), .misconfigured(.refused(.unauthorizedClient)): self = .told
        case .dead(.bareStatus) where isConfidential: self = .bare
        default: return nil
        }
    }
}

extension TokenOutcome {
    /// Whether the chain advances with the reply, so that the reply belongs to its next link.
    fileprivate var movesOn: Bool { if case .success = self { true } else { false } }
}
