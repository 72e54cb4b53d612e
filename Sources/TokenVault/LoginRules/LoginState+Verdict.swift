import OAuthClient
import VaultCrypto
import VaultStorage

extension LoginState {
    /// The context of a failure.
    struct Trial: Sendable {
        let claim: RenewalClaim
        /// A server may have spent the token before it asked for a proof, and then refused something else.
        let leavesDoubt: Bool
        let policy: ReplayPolicy
        let hasOtherLogins: Bool
        let now: Timestamp
        let random: Double
        /// How long the refresh token of a login without a key is kept after its provider has ended it.
        var keepsEndedFor: Duration?

        var newDoubt: RenewalDoubt.Cause? { leavesDoubt ? .lostReply : nil }
    }

    /// Records an outcome that brought no token. The caller has checked that the attempt is still open.
    mutating func record(_ verdict: RenewalFailure, of trial: Trial) {
        let claim = trial.claim
        let now = trial.now
        switch verdict {
        case .dead(let reason):
            let isLate = isLateArrivalSuspected(reason, trial)
            die(
                isLate ? .lostResponse : reason, at: now, keepingFor: trial.keepsEndedFor,
                isLateArrivalSuspected: isLate)
        case .needsUser:
            rest(after: claim, newDoubt: trial.newDoubt)
            needUser(because: .needsUser, at: now)
        case .clientRefused:
            rest(after: claim, newDoubt: trial.newDoubt)
            noteFailure(.misconfigured)
        case .misconfigured:
            // A pause of its own, in every process: no other login is delayed, and none asks again at once.
            postpone(from: now, by: .breaker, retryAfter: nil, random: trial.random)
            rest(after: claim, newDoubt: trial.newDoubt)
            noteFailure(.misconfigured)
        case .targetRefused:
            rest(after: claim, newDoubt: trial.newDoubt)
            noteFailure(.targetRefused)
        case .transient(let retryAfter, _, let isRejection):
            if isRejection {
                let earlier = session.rejections
                session.rejections = VaultStorage.RejectionHistory(
                    count: (earlier?.count ?? 0) + 1, since: earlier?.since ?? now)
            }
            postpone(from: now, retryAfter: retryAfter, random: trial.random)
            rest(after: claim, newDoubt: verdict.newDoubt)
            noteFailure(.transient)
        case .unprocessed(let retryAfter, _):
            postpone(from: now, retryAfter: retryAfter, random: trial.random)
            // This brings an earlier doubt no nearer to its end.
            var unsent = claim
            unsent.tries -= 1
            rest(after: unsent, newDoubt: verdict.newDoubt)
            noteFailure(.transient)
        case .inDoubt:
            postpone(from: now, retryAfter: nil, random: trial.random)
            rest(after: claim, newDoubt: verdict.newDoubt)
            auditEvents.append(AuditEvent(.renewalInDoubt))
        case .notSent:
            var unsent = claim
            unsent.tries -= 1
            rest(after: unsent, newDoubt: nil)
            noteFailure(.notSent)
        case .withdrawn:
            rest(after: claim, newDoubt: nil)
            noteFailure(.withdrawn)
        case .postponed:
            postponeForApp(from: now, random: trial.random)
            rest(after: claim, newDoubt: nil)
            auditEvents.append(AuditEvent(.renewalPostponed))
        }
    }

    /// The provider has ended the login and is not believed. It waits, like a login whose request was refused.
    mutating func wait(for trial: Trial, newDoubt: RenewalDoubt.Cause?) {
        postpone(from: trial.now, by: .breaker, retryAfter: nil, random: trial.random)
        rest(after: trial.claim, newDoubt: newDoubt ?? trial.newDoubt)
        noteFailure(.providerStopped)
    }

    /// Nothing is sent for the login before its user has acted.
    mutating func needUser(because cause: AuditCause, at now: Timestamp) {
        session.failure = FailureRecord(reason: FailureRecord.needsUserCode, at: now)
        session.notifiedFailure = false
        noteFailure(cause)
    }

    private mutating func noteFailure(_ cause: AuditCause) {
        auditEvents.append(AuditEvent(.renewalFailed, [.cause(cause)]))
    }

    /// The login is over: it is flagged, and data that only a living chain needs is destroyed.
    ///
    /// - Parameter keepingFor: How long its refresh token is still kept, if it has no key.
    mutating func die(
        _ reason: RefreshFailure.Reason, at now: Timestamp, keepingFor: Duration? = nil,
        isLateArrivalSuspected: Bool = false
    ) {
        // A lost reply explains an end; nothing is learnt of the provider's rules.
        let facts = reason == .lostResponse ? nil : ReplyFacts(endOf: self, at: now)
        session.failure = FailureRecord(reason: reason.code, at: now)
        session.notifiedFailure = false
        session.notBefore = nil
        session.state = .tokenExpired
        session.doubtCause = nil
        // Mere rejections do not say that the grant is dead: its token and key stay, to be revoked at the
        // end.
        if reason.isProvidersWord, let keepingFor, keepingFor > .zero, key == nil, refresh?.refreshToken != nil {
            refresh?.forgetPrevious()
            // On a dead login: until when the means to revive it are kept.
            session.notBefore = now.advanced(by: keepingFor)
        } else if reason != .unclassifiedRejection, reason != .keyMismatch {
            key = nil
            refresh = nil
            // Tokens that are bound to the key are useless without it.
            session.resourceTokens.removeAll { TokenType($0.tokenType) == .dpop }
        }
        intent = nil
        var detail = [AuditEvent.Detail.reason(reason)]
        if isLateArrivalSuspected { detail.append(.init(AuditEvent.Detail.Key.suspected, "lateArrival")) }
        auditEvents.append(AuditEvent(.loginDead, detail, facts: facts))
    }

    /// Whether tokens that came after a doubt were refused at their first use: the earlier request may have arrived
    /// after them, and the server took it for theft. This shows only at the next renewal, however late.
    func isLateArrivalSuspected(_ reason: RefreshFailure.Reason, _ trial: Trial) -> Bool {
        guard session.cameAfterDoubt, trial.policy.punishesReuse, reason == .deadGrant || reason == .lostResponse else {
            return false
        }
        return trial.now.since(session.obtainedAt) < trial.policy.memory
    }

    /// Ends the attempt. In doubt, the intent stays without an owner, for the next renewal to see.
    ///
    /// - Parameter newDoubt: The doubt that this attempt itself has caused.
    mutating func rest(after claim: RenewalClaim, newDoubt: RenewalDoubt.Cause?) {
        guard claim.isInDoubt || newDoubt != nil else {
            intent = nil
            session.doubtCause = nil
            return
        }
        intent?.owner = IntentRecord.nobody
        intent?.tries = claim.tries
        guard let intent, intent.doubtSince == nil else { return }
        self.intent?.doubtSince = intent.startedAt
        session.doubtCause = (newDoubt ?? .lostReply).code
    }

    /// The same attempt is about to send the same refresh token again.
    mutating func noteReplay(_ claim: RenewalClaim) {
        intent?.tries = claim.tries
        if let intent, intent.doubtSince == nil {
            self.intent?.doubtSince = intent.startedAt
            session.doubtCause = RenewalDoubt.Cause.lostReply.code
        }
        auditEvents.append(
            AuditEvent(.renewalRepeated, [.cause(.doubt), .init(AuditEvent.Detail.Key.attempt, String(claim.tries))]))
    }

    /// Discards tokens of an attempt that no longer belongs to the login. They must neither be used nor left alive; but
    /// while the grant lives on, revoking one of its tokens would end it.
    ///
    /// - Parameter spent: The refresh token that they were given for, if it is known.
    mutating func discardForRevocation(_ reply: SpooledReply, spent: SecretBytes?, at now: Timestamp) {
        if position.chain == reply.position.chain, isLiving {
            if position.generation < reply.position.generation {
                catchUp(with: reply, spent: spent)
            } else {
                keepLate(reply, spent: spent, at: now)
            }
        } else if isLiving, let own = refresh?.refreshToken, own == reply.refreshToken || own == spent {
            // The provider gives the same refresh token for every log-in: the grant is the one that lives on.
        } else if let record = reply.revocation(at: now) {
            outbox.append(record)
        }
    }
}

extension IntentRecord {
    /// The owner of an intent that no process holds.
    package static let nobody: Int64 = 0
}
