import OAuthClient
import VaultCrypto
import VaultStorage

// Asking the app. This spends nothing, so it may be given up at any time.
extension Renewal {
    /// Asks the ``TokenRefreshHandler`` for a token.
    func ask(_ claim: RenewalClaim, _ attempt: inout RenewalAttempt?) async -> RenewalMachine.Event {
        guard let current = attempt else { return .replied(.verdict(.withdrawn)) }
        if claim.method == .session { return await askSession(claim, current, &attempt) }
        guard let handler = context.handler else { return .replied(.verdict(.withdrawn)) }
        let login = login
        let userId = current.stored.userId
        let answer = OneAnswer<HandlerAnswer>()
        let asked = AskedLogin(login: login) { answer.isOpen }
        let task = context.ask(asked) {
            do {
                let token = try await handler.refreshAuthentication(userId: userId, login: LoginID(login))
                answer.give(.token(token))
            } catch {
                answer.give(error is RefreshFailedError ? .over : .notNow)
            }
        }
        defer { task.cancel() }
        flight.onAbandon { answer.give(.withdrawn) }
        let given = await bounded(answer, timedOut: .notNow, withdrawn: .withdrawn)
        switch given {
        case .token(let token): return await take(token, current, &attempt)
        case .over: return .replied(.verdict(.dead(.refusedByHandler)))
        case .notNow: return .replied(.verdict(.nothingUsable))
        case .withdrawn: return .replied(.verdict(.withdrawn))
        }
    }

    /// Waits for the app, until its time is over or its answer is no longer wanted.
    private func bounded<Answer: Sendable>(
        _ answer: OneAnswer<Answer>, timedOut: Answer, withdrawn: Answer
    ) async -> Answer {
        let watch = vault.superseding.watch(login) { answer.give(withdrawn) }
        defer { vault.superseding.unwatch(watch) }
        let alarm = context.alarm { answer.give(timedOut) }
        defer { alarm?.cancel() }
        return await answer.value()
    }

    private func take(
        _ token: RefreshedAccessToken, _ current: RenewalAttempt, _ attempt: inout RenewalAttempt?
    ) async -> RenewalMachine.Event {
        guard current.isNews(token, at: vault.now) else {
            await vault.sessions.post(.unusableToken(login: login, .invalidArgument))
            return .replied(.verdict(.nothingUsable))
        }
        attempt?.reply = SpooledReply(token, of: current, at: vault.now)
        return .replied(.tokens)
    }

    /// Asks the ``SessionHandler`` what to do, and a second time if another one is installed meanwhile.
    private func askSession(
        _ claim: RenewalClaim, _ current: RenewalAttempt, _ attempt: inout RenewalAttempt?
    ) async -> RenewalMachine.Event {
        while let installed = context.sessionHandlers.installed {
            let answer = OneAnswer<SessionAnswer>()
            guard let question = context.sessionHandlers.begin(answer, for: installed) else { continue }
            defer { context.sessionHandlers.end(question) }
            let task = await put(question: answer, to: installed.handler, claim, current)
            switch await bounded(answer, timedOut: .timedOut, withdrawn: .withdrawn) {
            case .consent: return .consented
            case .authToken(let token):
                attempt?.authToken = token
                return .authTokenGiven
            case .accessToken(let token): return await take(token, current, &attempt)
            case .unable: return .replied(.verdict(.postponed))
            case .unanswered: return .replied(.verdict(.nothingUsable))
            case .timedOut:
                task.cancel()
                return .replied(.verdict(.nothingUsable))
            case .withdrawn:
                task.cancel()
                return .replied(.verdict(.withdrawn))
            case .handlerReplaced: task.cancel()
            }
        }
        return .replied(.verdict(.withdrawn))
    }

    private func put(
        question answer: OneAnswer<SessionAnswer>, to handler: any SessionHandler, _ claim: RenewalClaim,
        _ current: RenewalAttempt
    ) async -> Task<Void, Never> {
        let (vault, login) = (vault, login)
        let renewal = AccessTokenRenewal(
            userId: current.stored.userId, login: LoginID(login),
            isLogIn: current.stored.session.hasExpired(at: vault.now), means: means(current), answer: answer
        ) {
            let isStillWaiting = try await vault.isStillWaiting(login, for: claim)
            guard !isStillWaiting else { return }
            answer.give(.withdrawn)
        }
        let asked = AskedLogin(login: login) { answer.isOpen }
        // The task keeps the renewal until the handler has returned: from then on the app keeps it alive.
        return context.ask(asked) { [renewal] in await handler.sessionWillRenewAccessToken(renewal) }
    }

    private func means(_ attempt: RenewalAttempt) -> AccessTokenRenewal.Means {
        let profile = try? attempt.provider?.record.profile
        return AccessTokenRenewal.Means(
            canRenew: attempt.stored.refresh?.refreshToken != nil || context.handler != nil,
            authToken: attempt.provider == nil ? .itself : profile?.exchange == nil ? .none : .exchange)
    }
}

private enum HandlerAnswer: Sendable {
    case token(RefreshedAccessToken)
    case over
    case notNow
    case withdrawn
}

extension RenewalAttempt {
    /// Whether a token of the app is a new one. An expired one is not; nor is the same one again, unless it is valid
    /// for longer than was known.
    func isNews(_ token: RefreshedAccessToken, at now: Timestamp) -> Bool {
        let expiry = GivenExpiry(token.expiresAt, now: now)
        guard let expiresAt = try? expiry.checked() ?? Timestamp(milliseconds: .max), expiresAt > now else {
            return false
        }
        let session = stored.session
        guard session.accessToken == SecretBytes(utf8: token.accessToken.reveal()) else { return true }
        guard session.rejectedGeneration == nil, let before = session.expiresAt, expiry != .unknown else {
            return false
        }
        return expiresAt > before
    }
}

extension Vault {
    /// Whether, according to the row, the answer to this question would still be accepted.
    fileprivate func isStillWaiting(_ login: LoginHandle, for claim: RenewalClaim) async throws -> Bool {
        do throws(StoreError) {
            let stored = try await store.login(login)
            return stored.intent?.fence == claim.fence && stored.position == claim.position
                && stored.userStatus == .active
        } catch {
            if error.code == .notFound(.login) { return false }
            throw VaultError(error)
        }
    }
}
