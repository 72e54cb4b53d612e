import OAuthClient
import VaultCrypto
import VaultStorage

extension LoginState {
    /// Writes an outcome that brought no token. The caller has checked that the attempt is still open.
    mutating func record(_ verdict: RenewalVerdict, for claim: RenewalClaim, now: Timestamp, random: Double) {
        switch verdict {
        case .dead(let reason):
            die(reason, at: now)
        case .needsUser:
            session.failure = FailureRecord(reason: FailureRecord.needsUserCode, at: now)
            rest(inDoubt: claim.isInDoubt, at: now)
            auditEvents.append(AuditEvent(.renewalFailed, [.init("cause", "needsUser")]))
        case .misconfigured:
            rest(inDoubt: claim.isInDoubt, at: now)
            auditEvents.append(AuditEvent(.renewalFailed, [.init("cause", "misconfigured")]))
        case .transient(let retryAfter, let keepsDoubt, let isRejection):
            if isRejection {
                let earlier = session.rejections
                session.rejections = VaultStorage.RejectionHistory(
                    count: (earlier?.count ?? 0) + 1, since: earlier?.since ?? now)
            }
            postpone(from: now, retryAfter: retryAfter, random: random)
            rest(inDoubt: keepsDoubt || claim.isInDoubt, at: now)
            auditEvents.append(AuditEvent(.renewalFailed, [.init("cause", "transient")]))
        case .inDoubt:
            postpone(from: now, retryAfter: nil, random: random)
            rest(inDoubt: true, at: now)
            auditEvents.append(AuditEvent(.renewalInDoubt))
        case .withdrawn:
            rest(inDoubt: claim.isInDoubt, at: now)
            auditEvents.append(AuditEvent(.renewalFailed, [.init("cause", "withdrawn")]))
        }
    }

    /// The login is over: flagged, and what only a living chain needs is destroyed.
    private mutating func die(_ reason: RefreshFailure.Reason, at now: Timestamp) {
        session.failure = FailureRecord(reason: reason.code, at: now)
        session.notifiedFailure = false
        session.notBefore = nil
        session.state = .tokenExpired
        // After mere rejections nobody has said that the grant is dead: its token and key stay, to be revoked at the end.
        if reason != .unclassifiedRejection {
            key = nil
            refresh = nil
        }
        dueAt = nil
        intent = nil
        auditEvents.append(AuditEvent(.loginDead, [.init("reason", reason.description)]))
    }

    /// Ends the attempt. In doubt, the intent stays without an owner: whoever renews next knows of it.
    private mutating func rest(inDoubt: Bool, at now: Timestamp) {
        guard inDoubt else {
            intent = nil
            return
        }
        intent?.owner = IntentRecord.nobody
        if intent?.doubtSince == nil { intent?.doubtSince = now }
    }

    /// Tokens of an attempt that is not the login's any more. They must neither be used nor left alive.
    mutating func disown(_ token: RefreshToken, of claim: RenewalClaim, now: Timestamp) {
        if position.chain == claim.position.chain, session.state != .terminated, userStatus == .active {
            // The grant lives on under a newer link, and revoking any of its tokens would end it: keep this one sealed.
            refresh?.previousRefresh = SecretBytes(utf8: token.reveal())
        } else if let provider {
            outbox.append(
                OutboxRecord(
                    provider: provider, login: handle, user: user,
                    refreshToken: SecretBytes(utf8: token.reveal()), accessToken: nil,
                    dpopPrivateKey: key?.dpopPrivateKey, createdAt: now))
        }
    }
}

extension IntentRecord {
    /// The owner of an intent at rest. No process has it.
    static let nobody: Int64 = 0
}
