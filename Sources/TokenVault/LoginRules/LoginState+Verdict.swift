import OAuthClient
import VaultCrypto
import VaultStorage

extension LoginState {
    /// What a verdict is about.
    struct Trial: Sendable {
        let claim: RenewalClaim
        /// A server may have spent the token before it asked for a proof, and refused something else when that came.
        let leavesDoubt: Bool
        let policy: ReplayPolicy
        let hasOtherLogins: Bool
        let now: Timestamp
        let random: Double
        /// How long the refresh token of a login without a key is kept after its provider has ended it.
        var keepsEndedFor: Duration?

        var newDoubt: RenewalDoubt.Cause? { leavesDoubt ? .lostReply : nil }
    }

    /// Writes an outcome that brought no token. The caller has checked that the attempt is still open.
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
            session.failure = FailureRecord(reason: FailureRecord.needsUserCode, at: now)
            session.notifiedFailure = false
            rest(after: claim, newDoubt: trial.newDoubt)
            noteFailure(.needsUser)
        case .clientRefused:
            rest(after: claim, newDoubt: trial.newDoubt)
            noteFailure(.misconfigured)
        case .misconfigured:
            // Its own pause, in every process: no other login is held up, and none asks again at once.
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
            // A doubt from before does not come nearer to its end by it.
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

    /// The provider has ended the login and is not believed. It waits, as one does that was refused for what it asked.
    mutating func wait(for trial: Trial, newDoubt: RenewalDoubt.Cause?) {
        postpone(from: trial.now, by: .breaker, retryAfter: nil, random: trial.random)
        rest(after: trial.claim, newDoubt: newDoubt ?? trial.newDoubt)
        noteFailure(.providerStopped)
    }

    private mutating func noteFailure(_ cause: AuditCause) {
        auditEvents.append(AuditEvent(.renewalFailed, [.cause(cause)]))
    }

    /// The login is over: flagged, and what only a living chain needs is destroyed.
    ///
    /// - Parameter keepingFor: How long its refresh token is kept all the same, if it has no key.
    mutating func die(
        _ reason: RefreshFailure.Reason, at now: Timestamp, keepingFor: Duration? = nil,
        isLateArrivalSuspected: Bool = false
    ) {
        session.failure = FailureRecord(reason: reason.code, at: now)
        session.notifiedFailure = false
        session.notBefore = nil
        session.state = .tokenExpired
        session.doubtCause = nil
        // Mere rejections do not say that the grant is dead: its token and key stay, to be revoked at the
        // end.
        if reason.isProvidersWord, let keepingFor, keepingFor > .zero, key == nil, refresh?.refreshToken != nil {
            refresh?.forgetPrevious()
            // Of a dead login: until when what could revive it is kept.
            session.notBefore = now.advanced(by: keepingFor)
        } else if reason != .unclassifiedRejection, reason != .keyMismatch {
            key = nil
            refresh = nil
            // What is bound to the key is of no use without it.
            session.resourceTokens.removeAll { TokenType($0.tokenType) == .dpop }
        }
        intent = nil
        var detail = [AuditEvent.Detail.reason(reason)]
        if isLateArrivalSuspected { detail.append(.init(AuditEvent.Detail.Key.suspected, "lateArrival")) }
        auditEvents.append(AuditEvent(.loginDead, detail))
    }

    /// Tokens that came after a doubt are refused at their first use: the earlier request may have arrived after them,
    /// and the server took it for theft. It shows at the next renewal, however long after.
    func isLateArrivalSuspected(_ reason: RefreshFailure.Reason, _ trial: Trial) -> Bool {
        guard session.cameAfterDoubt, trial.policy.punishesReuse, reason == .deadGrant || reason == .lostResponse else {
            return false
        }
        return trial.now.since(session.obtainedAt) < trial.policy.memory
    }

    /// Ends the attempt. In doubt, the intent stays without an owner: whoever renews next knows of it.
    ///
    /// - Parameter newDoubt: what this attempt itself has left in doubt.
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

    /// The same refresh token is about to be sent once more, by the same attempt.
    mutating func noteReplay(_ claim: RenewalClaim) {
        intent?.tries = claim.tries
        if let intent, intent.doubtSince == nil {
            self.intent?.doubtSince = intent.startedAt
            session.doubtCause = RenewalDoubt.Cause.lostReply.code
        }
        auditEvents.append(
            AuditEvent(.renewalRepeated, [.cause(.doubt), .init(AuditEvent.Detail.Key.attempt, String(claim.tries))]))
    }

    /// Tokens of an attempt that is no longer the login's. They must neither be used nor left alive; but while the
    /// grant lives on, revoking one of its tokens would end it.
    ///
    /// - Parameter spent: the refresh token that they were given for, if that is known.
    mutating func discardForRevocation(_ reply: SpooledReply, spent: SecretBytes?, at now: Timestamp) {
        if position.chain == reply.position.chain, isLiving {
            if position.generation < reply.position.generation {
                catchUp(with: reply, spent: spent)
            } else {
                keepLate(reply, spent: spent, at: now)
            }
        } else if isLiving, let own = refresh?.refreshToken, own == reply.refreshToken || own == spent {
            // The provider gives one refresh token for every log-in: the grant is the one that lives.
        } else if let record = reply.revocation(at: now) {
            outbox.append(record)
        }
    }
}

extension IntentRecord {
    /// The owner of an intent at rest. No process has it.
    package static let nobody: Int64 = 0
}
