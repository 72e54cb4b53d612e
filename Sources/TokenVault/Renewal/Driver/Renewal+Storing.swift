import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension Renewal {
    /// D2: stores the new tokens, before anything else happens with them.
    ///
    /// - Parameter isSecond: Whether the previous reply's successor without an access token has been redeemed already.
    func store(
        _ claim: RenewalClaim, _ outcome: RenewalReply, _ attempt: RenewalAttempt?, isSecond: Bool
    ) async -> RenewalMachine.Event {
        guard let attempt, let reply = attempt.reply else { return .storeFailed }
        let now = vault.now
        // Asking again would bring the same: a downgrade, or a second successor in a row without an access token.
        let isFruitless =
            outcome == .successorOnly(.downgraded) || outcome == .successorOnly(.accessTokenMissing) && isSecond
        // The vault decides: another process may have resumed the provider.
        let isStopped = attempt.provider.map { context.health[$0.handle].breaker.isStopped } ?? false
        do {
            let isStored = try await vault.change(login, endings: isStopped ? .max : nil) { state in
                // A commit that was reported as failed may have succeeded all the same.
                if state.holds(reply) { return true }
                state.auditEvents += attempt.repeatEvents
                guard state.isOpen(claim) else {
                    if claim.method == .session {
                        state.discardReplyForRevocation(reply, of: claim, at: now)
                    } else {
                        state.discardForRevocation(reply, spent: attempt.stored.refresh?.refreshToken, at: now)
                    }
                    return state.holds(reply)
                }
                state.commit(reply, afterDoubt: claim.isInDoubt)
                if state.endings?.stoppedAt != nil, let name = attempt.provider?.record.name {
                    state.providerEvents.append(AuditEvent(.providerResumed, [.init("name", name)]))
                }
                if isFruitless { state.postpone(from: now, retryAfter: nil, random: 1) }
                if isFruitless, let answer = attempt.answer { state.note(answer, at: now) }
                return true
            }
            if isStored {
                responses.announce()
                context.noteUnproven(reply)
            } else {
                context.revoker.revokeSoon()
            }
            return isStored ? .stored : .superseded
        } catch let error as StoreError where error.code == .notFound(.login) {
            return await discardWithoutLogin(reply)
        } catch {
            return Self.failure(error, vault, login)
        }
    }

    /// The login is gone: its late tokens must be revoked.
    private func discardWithoutLogin(_ reply: SpooledReply) async -> RenewalMachine.Event {
        guard let record = reply.revocation(at: vault.now) else { return .superseded }
        do {
            try await vault.store.addOutbox([record])
        } catch {
            return Self.failure(error, vault, login)
        }
        context.revoker.revokeSoon()
        return .superseded
    }

    private static func failure(_ error: any Error, _ vault: Vault, _ login: LoginHandle) -> RenewalMachine.Event {
        switch (error as? StoreError)?.code {
        case .closed: return .closed
        case .ownershipLost: return .ownershipLost
        default:
            vault.logger.warning(
                "new tokens could not be stored yet", metadata: ["vault-login-handle": "\(login.text)"])
            return .storeFailed
        }
    }

    /// Writes the tokens outside the vault, because the vault cannot take them now.
    func spool(_ attempt: inout RenewalAttempt?) -> RenewalMachine.Event {
        guard let reply = attempt?.reply else { return .spoolFailed }
        do throws(StoreError) {
            attempt?.spooled = try vault.store.spool.add(reply)
            vault.logger.warning(
                "the new tokens are kept in this machine's spool until the vault takes them",
                metadata: ["vault-login-handle": "\(login.text)"])
            return .spooled
        } catch {
            vault.logger.warning(
                "new tokens are in memory only: the spool cannot be written either",
                metadata: ["vault-login-handle": "\(login.text)"])
            return .spoolFailed
        }
    }

    /// The vault has the tokens, or they went where tokens without a waiting login belong.
    func unspool(_ attempt: inout RenewalAttempt?) {
        guard let handle = attempt?.spooled else { return }
        attempt?.spooled = nil
        do throws(StoreError) {
            try vault.store.spool.remove(handle)
        } catch {
            // A process that finds the entry finds its tokens in the vault, too.
            vault.logger.debug(
                "a spooled reply that is stored could not be removed",
                metadata: ["vault-login-handle": "\(login.text)"])
        }
    }

    /// Records an outcome without tokens.
    func record(
        _ claim: RenewalClaim, _ verdict: RenewalFailure, _ attempt: RenewalAttempt?
    ) async -> RenewalMachine.Event {
        let policy = attempt?.policy ?? ReplayPolicy()
        // If this cannot be written, this process still knows that nothing was spent.
        if verdict.newDoubt == nil, attempt?.leavesDoubt != true { vault.noteUnspent(claim.fence) }
        var hasOthers = false
        if let attempt { hasOthers = await hasOtherLogins(attempt) }
        let trial = LoginState.Trial(
            claim: claim, leavesDoubt: attempt?.leavesDoubt ?? false, policy: policy,
            hasOtherLogins: hasOthers, now: vault.now, random: context.random(),
            keepsEndedFor: attempt?.provider?.record.daysEndedIsKept.map { .seconds(86_400 * $0) })
        let nonces = attempt?.nonces ?? [:]
        let repeatEvents = attempt?.repeatEvents ?? []
        let answer = attempt?.answer
        if let answer {
            vault.logger.debug(
                "the provider refused a renewal",
                metadata: ["vault-login-handle": "\(login.text)", "vault-provider-answer": "\(answer)"])
        }
        var most: Int??
        if case .dead(let reason) = verdict, reason.isProvidersWord, let provider = attempt?.provider {
            most = .some(provider.record.mostDeaths)
        }
        do {
            let recorded = try await vault.change(login, endings: most.map { $0 ?? EndingFuse.usualMost }) {
                [most] state in
                state.auditEvents += repeatEvents
                guard state.isOpen(claim) else { return Recorded.superseded }
                guard state.position == claim.position else {
                    // The app has set an access token meanwhile: only a doubt about the refresh token, which is still
                    // the current one, is news.
                    state.rest(after: claim, newDoubt: verdict.newDoubt ?? trial.newDoubt)
                    return .superseded
                }
                state.remember(nonces)
                if verdict.isRefusalOfToken,
                    state.takeOtherToken(policy, hasOtherLogins: trial.hasOtherLogins, at: trial.now)
                {
                    return .otherTokenTaken
                }
                let fuse =
                    if let most, let endings = state.endings {
                        EndingFuse(endings, most: most, now: trial.now, counts: verdict != .dead(.lostResponse))
                    } else { EndingFuse.believed }
                guard fuse != .waits else {
                    state.wait(for: trial, newDoubt: verdict.newDoubt)
                    if let answer { state.note(answer, at: trial.now) }
                    return .disbelieved(until: state.session.notBefore ?? trial.now)
                }
                if fuse == .last, let endings = state.endings {
                    state.providerEvents.append(
                        AuditEvent(
                            .providerStopped,
                            [
                                .init("name", attempt?.provider?.record.name ?? ""),
                                .init(AuditEvent.Detail.count, String(endings.inARow + 1)),
                            ]))
                }
                let isSuspicious =
                    if case .dead(let reason) = verdict { state.isLateArrivalSuspected(reason, trial) } else { false }
                state.record(verdict, of: trial)
                if let answer { state.note(answer, at: trial.now, isOfTarget: verdict == .targetRefused) }
                return fuse == .last ? .stopped : isSuspicious ? .lateArrivalSuspected : .done
            }
            vault.forgetUnspent(claim.fence)
            return tell(recorded, attempt?.provider)
        } catch {
            return Self.failure(toNote: error)
        }
    }

    /// Records the doubt from an exchange, and the replay that follows, before the replay is sent: later readers see
    /// each time that the refresh token was sent, even if this process dies.
    func noteReplay(_ claim: RenewalClaim, _ attempt: inout RenewalAttempt?) async -> RenewalMachine.Event {
        let nonces = attempt?.nonces ?? [:]
        let repeatEvents = attempt?.repeatEvents ?? []
        do {
            let isNoted = try await vault.change(login) { state in
                guard state.isOpen(claim) else { return false }
                state.auditEvents += repeatEvents + [AuditEvent(.renewalInDoubt)]
                guard state.position == claim.position else {
                    var unsent = claim
                    unsent.tries -= 1
                    state.rest(after: unsent, newDoubt: .lostReply)
                    return false
                }
                state.remember(nonces)
                state.noteReplay(claim)
                return true
            }
            guard isNoted else { return .superseded }
            attempt?.unreportedRepeats = 0
            return .stored
        } catch {
            return Self.failure(toNote: error)
        }
    }

    private static func failure(toNote error: any Error) -> RenewalMachine.Event {
        switch (error as? StoreError)?.code {
        case .notFound(.login): .superseded
        case .closed: .closed
        case .ownershipLost: .ownershipLost
        default: .storeFailed
        }
    }

    private enum Recorded {
        case done, superseded, otherTokenTaken, lateArrivalSuspected
        /// The provider has ended one login too many.
        case stopped
        /// The provider is stopped.
        case disbelieved(until: Timestamp)
    }

    private func tell(_ recorded: Recorded, _ provider: StoredProvider?) -> RenewalMachine.Event {
        switch recorded {
        case .done: return .stored
        case .disbelieved(let until):
            follow(provider)
            return .refused(.providerStopped(until: until))
        case .stopped:
            follow(provider)
            vault.logger.error(
                "a provider has ended one login after the other and is stopped: its next words of this kind are not believed",
                metadata: ["vault-provider-handle": "\(provider?.handle.text ?? "")"])
            return .stored
        case .superseded: return .superseded
        case .otherTokenTaken: return .otherTokenTaken
        case .lateArrivalSuspected:
            vault.logger.warning(
                "lateArrivalSuspected: refresh tokens were dead right after a doubt; an earlier request may have arrived after them",
                metadata: ["vault-login-handle": "\(login.text)"])
            return .stored
        }
    }
}

extension Renewal {
    private func follow(_ provider: StoredProvider?) {
        guard let provider else { return }
        let now = vault.now
        context.health.change(provider.handle) {
            $0.breaker.follow(isStopped: true, revision: provider.revision, now: now, pause: Backoff.probe.first)
        }
    }
}

extension RenewalFailure {
    /// Whether the server has refused this very token.
    var isRefusalOfToken: Bool { self == .dead(.deadGrant) || self == .dead(.lostResponse) }

    /// The doubt that the attempt itself has caused.
    var newDoubt: RenewalDoubt.Cause? {
        switch self {
        // A refusal that is not written, because the row has advanced, must still be known to follow a lost reply.
        case .inDoubt, .dead(.lostResponse): .lostReply
        case .transient(_, let doubt, _), .unprocessed(_, let doubt): doubt
        case .dead, .needsUser, .clientRefused, .misconfigured, .targetRefused, .notSent, .withdrawn, .postponed: nil
        }
    }
}
