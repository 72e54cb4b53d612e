import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension Renewal {
    /// Sends the refresh token, once.
    func send(_ claim: RenewalClaim, _ attempt: inout RenewalAttempt?) async -> RenewalMachine.Event {
        guard let stored = attempt?.stored, let provider = attempt?.provider,
            let text = stored.refresh?.refreshToken?.string(), let refreshToken = try? RefreshToken(text),
            let binding = try? ServerBinding(provider.record)
        else {
            // What is stored cannot be sent: a matter of our registration, not of this grant.
            return .replied(.verdict(.misconfigured))
        }
        let recorder = engine.recorder(of: .refresh)
        responses.add(recorder)
        let endpoint = TokenEndpoint(
            binding: binding, transport: recorder ?? engine.transport, now: vault.wallClock)
        var dpop = stored.key.flatMap { DPoPContext($0) }
        dpop?.clockOffset = engine.clocks.offset(of: provider.handle)
        let scope = binding.style.sendsScopeOnRefresh ? stored.session.grantedScope.flatMap { try? Scope($0) } : nil
        let context = ClassificationContext(
            expectedTokenType: stored.key == nil ? .bearer : .dpop,
            inDoubtIntentExisted: claim.isInDoubt,
            rejections: stored.session.rejections.map { history in
                OAuthClient.RejectionHistory(count: history.count, span: vault.now.since(history.since))
            },
            expectedIdentity: stored.session.subject.map { IDTokenIdentity(subject: $0, issuer: nil) })
        let result = await endpoint.refresh(
            RefreshExchange(refreshToken: refreshToken, scope: scope, dpop: dpop), context: context)
        engine.clocks.learn(result.clockOffset, of: provider.handle)
        attempt?.nonces.merge(result.nonces) { _, new in new }
        let startedAt = Timestamp(result.startedAt)
        switch result.outcome {
        case .success(let issued): attempt?.tokens = .issued(issued, startedAt: startedAt)
        case .partial(let partial): attempt?.tokens = .successor(partial, startedAt: startedAt)
        default: break
        }
        return .replied(RenewalReply(result))
    }

    /// Asks the app.
    func ask(_ claim: RenewalClaim, _ attempt: inout RenewalAttempt?) async -> RenewalMachine.Event {
        guard let handler = engine.handler, let userID = attempt?.stored.userID else {
            return .replied(.verdict(.withdrawn))
        }
        let login = login
        let task = Task {
            try await RenewalEngine.$loginBeingRenewed.withValue(login) {
                try await handler.refreshAuthentication(userId: userID, login: LoginID(login))
            }
        }
        flight.onAbandon { task.cancel() }
        vault.superseding.watch(login, fence: claim.fence) { task.cancel() }
        defer { vault.superseding.unwatch(fence: claim.fence) }
        do {
            let token = try await task.value
            let now = vault.now
            if let expiresAt = token.expiresAt, Timestamp(expiresAt) <= now {
                // A token that has run out is no token.
                return .replied(.verdict(.transient(retryAfter: nil, keepsDoubt: false, isRejection: false)))
            }
            attempt?.tokens = .handed(token, at: now)
            return .replied(.tokens)
        } catch is RefreshFailedError {
            return .replied(.verdict(.dead(.refusedByHandler)))
        } catch {
            return .replied(
                .verdict(
                    task.isCancelled
                        ? .withdrawn : .transient(retryAfter: nil, keepsDoubt: false, isRejection: false)))
        }
    }

    /// D2: the new tokens, before anything else happens with them.
    func store(_ claim: RenewalClaim, _ attempt: RenewalAttempt?) async -> RenewalMachine.Event {
        guard let attempt, let tokens = attempt.tokens else { return .storeFailed }
        let now = vault.now
        do {
            let isStored = try await vault.store.updateLogin(login) { state in
                // A commit that was reported as failed may have happened all the same.
                if state.holds(tokens, of: claim) { return true }
                guard state.isOpen(claim) else {
                    if let token = tokens.refreshToken { state.disown(token, of: claim, now: now) }
                    return false
                }
                state.commit(tokens, nonces: attempt.nonces)
                return true
            }
            if !isStored { engine.revokeSoon() }
            return isStored ? .stored : .superseded
        } catch let error as StoreError where error.code == .notFound(.login) {
            return await disownWithoutLogin(claim, attempt)
        } catch let error as StoreError where error.code == .closed {
            return .closed
        } catch {
            vault.logger.warning(
                "new tokens could not be stored yet", metadata: ["vault-login-handle": "\(login.text)"])
            return .storeFailed
        }
    }

    /// The login is gone: what came late for it is to be revoked.
    private func disownWithoutLogin(_ claim: RenewalClaim, _ attempt: RenewalAttempt) async -> RenewalMachine.Event {
        if let token = attempt.tokens?.refreshToken, let provider = attempt.provider {
            let record = OutboxRecord(
                provider: provider.handle, login: login, user: nil,
                refreshToken: SecretBytes(utf8: token.reveal()), accessToken: nil,
                dpopPrivateKey: attempt.stored.key?.dpopPrivateKey, createdAt: vault.now)
            do {
                try await vault.store.addOutbox([record])
            } catch {
                return (error as? StoreError)?.code == .closed ? .closed : .storeFailed
            }
            engine.revokeSoon()
        }
        return .superseded
    }

    /// Writes an outcome without tokens.
    func record(
        _ claim: RenewalClaim, _ verdict: RenewalVerdict, _ attempt: RenewalAttempt?
    ) async -> RenewalMachine.Event {
        let now = vault.now
        let random = engine.random()
        let nonces = attempt?.nonces ?? [:]
        do {
            let isRecorded = try await vault.store.updateLogin(login) { state in
                guard state.isOpen(claim), state.position == claim.position else {
                    // Somebody else's change came first; what this attempt learnt is about tokens of the past.
                    if state.intent?.fence == claim.fence { state.intent = nil }
                    return false
                }
                state.remember(nonces)
                state.record(verdict, for: claim, now: now, random: random)
                return true
            }
            return isRecorded ? .stored : .superseded
        } catch let error as StoreError where error.code == .notFound(.login) {
            return .superseded
        } catch let error as StoreError where error.code == .closed {
            return .closed
        } catch {
            return .storeFailed
        }
    }
}
