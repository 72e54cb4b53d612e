import HTTPTypes

/// Classifies one reply of the token endpoint: the whole table of `docs/token-outcomes.md`.
///
/// Pure: the same values give the same outcome. The first row that matches wins: transport, then the family of the
/// status, then the body's error, then the checks of a success.
package func classify(
    _ reply: EndpointReply, _ context: ClassificationContext, _ rules: ReplyRules
) -> TokenOutcome {
    switch reply {
    case .failure(let error):
        switch error.phase {
        case .notSent: .transient(TransientFailure(.notSent(error.code), keepsDoubt: context.hasDoubt))
        case .maybeSent: .inDoubt(.transport(error.code))
        }
    case .reply(let reply): Classification(reply: reply, context: context, rules: rules).outcome()
    }
}

private struct Classification {
    let reply: HTTPReply
    let context: ClassificationContext
    let rules: ReplyRules

    private var status: Int { reply.response.status.code }
    /// A server that rotates may have done so before it failed.
    private var maySpend: Bool { context.hasDoubt || rules.rotation != .never }

    func outcome() -> TokenOutcome {
        let asksToWait = status == 429 || RetryAfter.isPresent(in: reply.response)
        switch status {
        case 200...299: return accepted(ReplyBody(reply, format: rules.format))
        // An overloaded server that says when to retry has not processed the request.
        case 503 where asksToWait: return later(.throttled(status: status), keepsDoubt: context.hasDoubt)
        case 500...599: return later(.serverError(status: status), keepsDoubt: maySpend)
        case 300...399 where asksToWait: return later(.throttled(status: status), keepsDoubt: maySpend)
        case 400...499 where asksToWait: return later(.throttled(status: status), keepsDoubt: context.hasDoubt)
        case 300...399: return later(.redirect(status: status), keepsDoubt: maySpend)
        case 400...499: return rejected(ReplyBody(reply, format: rules.format))
        default: return .inDoubt(.unexpectedStatus)
        }
    }

    // MARK: 2xx

    private func accepted(_ body: ReplyBody) -> TokenOutcome {
        guard body.isReadable else { return .inDoubt(.unreadableBody) }
        var reading = SuccessReading(body.entering(rules.tokenPath), context, rules)
        let error = ReplyError(body, rules)
        if case .none = error { return withOtherLogins(reading.outcome(), body) }
        // An error and tokens in one reply: whichever is wrong, a new refresh token must not be dropped, and a grant
        // that brought tokens is not dead.
        if let partial = reading.partial(.contradictory) { return partial }
        if reading.hasAccessToken { return .inDoubt(.contradictory) }
        guard case .code(let code) = error, let outcome = known(code, body) else {
            return later(.unclassifiedError, keepsDoubt: maySpend)
        }
        return outcome
    }

    /// A reply to a code may bring more than one chain, or only one of those that the profile knows.
    private func withOtherLogins(_ outcome: TokenOutcome, _ body: ReplyBody) -> TokenOutcome {
        guard context.grantIsNew, !rules.otherLogins.isEmpty else { return outcome }
        var others = rules.otherLogins.compactMap { login -> OtherTokens? in
            var reading = SuccessReading(body.entering(login.path), context, rules)
            guard case .success(let tokens) = reading.outcome() else { return nil }
            return OtherTokens(label: login.label, tokens: tokens)
        }
        if case .success(var tokens) = outcome {
            tokens.others = others
            return .success(tokens)
        }
        guard case .inDoubt(.unusableTokens) = outcome, !others.isEmpty else { return outcome }
        var tokens = others.removeFirst().tokens
        tokens.others = others
        return .success(tokens)
    }

    // MARK: 4xx

    private func rejected(_ body: ReplyBody) -> TokenOutcome {
        if rules.temporaryStatuses.contains(status) {
            return later(.throttled(status: status), keepsDoubt: context.hasDoubt)
        }
        if case .code(let code) = ReplyError(body, rules) {
            if let outcome = known(code, body) { return outcome }
        } else if body.isEmpty, rules.bareDeadStatuses.contains(status) {
            return finished(.bareStatus)
        }
        if isRefusedForTooLong { return finished(.unclassifiedRejection) }
        // Tokens in an error reply: the server issued them nevertheless.
        let broughtTokens = body.isReadable && !body["refresh_token"].isAbsent
        return later(.unclassifiedRejection(status: status), keepsDoubt: context.hasDoubt || broughtTokens)
    }

    // MARK: Errors

    /// Rows 4 to 14. Nil if the code is unknown, at least with this status.
    private func known(_ code: OAuthErrorCode, _ body: ReplyBody) -> TokenOutcome? {
        guard let meaning = rules.meaning(of: code, in: body) else { return nil }
        switch meaning {
        case .dead: return finished(.invalidGrant)
        case .deadByProfile: return finished(.profileCode)
        case .clientRefused: return .misconfigured(.client(code))
        case .misconfigured: return .misconfigured(.refused(code))
        case .needsUser: return .needsUser(code)
        case .temporary: return later(.temporary(code), keepsDoubt: context.hasDoubt)
        case .scopeRefused: return context.scopeWasSent ? .scopeRefused : .misconfigured(.refused(code))
        case .nonceRequired: return status == 400 || status == 401 ? nonceRequired(code) : nil
        case .invalidProof: return invalidProof(code)
        }
    }

    private func finished(_ cause: DeadCause) -> TokenOutcome {
        // An unknown status or code does not indicate a lost reply.
        if cause.isVerdict, context.hasDoubt { return .dead(.lostResponse) }
        return .dead(cause)
    }

    private func nonceRequired(_ code: OAuthErrorCode) -> TokenOutcome {
        guard context.proofWasSent else { return .misconfigured(.refused(code)) }
        guard let nonce = DPoPNonce(in: reply.response) else {
            return later(.nonceMissing, keepsDoubt: context.hasDoubt)
        }
        guard context.mayTry(nonce) else { return later(.nonceRepeated, keepsDoubt: context.hasDoubt) }
        return .nonceRequired(nonce)
    }

    private func invalidProof(_ code: OAuthErrorCode) -> TokenOutcome {
        guard context.proofWasSent else { return .misconfigured(.refused(code)) }
        if context.proofWasRepeated { return unmendedProof }
        if let nonce = DPoPNonce(in: reply.response), nonce != context.sentNonce { return .invalidProof(.nonce(nonce)) }
        if let offset = ClockOffset.measured(
            reply.response, startedAt: context.startedAt, repliedAt: context.repliedAt)
        {
            let rest = offset - context.sentClockOffset
            if rest > .seconds(5) || rest < .seconds(-5) { return .invalidProof(.clock(offset)) }
        }
        return unmendedProof
    }

    private var unmendedProof: TokenOutcome {
        isRefusedForTooLong ? finished(.keyMismatch) : .invalidProof(.none)
    }

    private var isRefusedForTooLong: Bool {
        let limit = rules.rejectionLimit
        // A provider that rejects all of its logins ends none of them.
        guard let history = context.rejections, history.othersSucceeded else { return false }
        return history.count >= limit.count &- 1 && history.span >= limit.span
    }

    private func later(_ cause: TransientCause, keepsDoubt: Bool) -> TokenOutcome {
        let delay = RetryAfter.delay(in: reply.response, now: context.repliedAt)
        return .transient(TransientFailure(cause, retryAfter: delay, keepsDoubt: keepsDoubt))
    }
}
