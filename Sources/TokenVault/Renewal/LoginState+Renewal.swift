import OAuthClient
import VaultCrypto
import VaultStorage

// The writes of a renewal, inside their transactions. Each is conditional on what the attempt was entitled to.
extension LoginState {
    /// Whether this attempt is still the one that the login waits for.
    ///
    /// The generation is compared through the intent: when the app sets an access token during a renewal, both move
    /// on together, and the refresh token that travels is still the current one.
    func isOpen(_ claim: RenewalClaim) -> Bool {
        guard let intent, session.state != .terminated, userStatus == .active else { return false }
        return position.chain == claim.position.chain && intent.fence == claim.fence
            && intent.generation == position.generation
    }

    /// Whether what this reply brought is what is stored.
    func holds(_ reply: SpooledReply) -> Bool {
        guard position == reply.position.successor, intent == nil else { return false }
        if let accessToken = reply.accessToken { return session.accessToken == accessToken }
        return refresh?.refreshToken == reply.refreshToken
    }

    /// D2: the next link of the chain.
    mutating func commit(_ reply: SpooledReply, afterDoubt: Bool, isFromSpool: Bool = false) {
        if let accessToken = reply.accessToken {
            replaceAccessToken(accessToken, obtainedAt: reply.obtainedAt, expiresAt: reply.expiresAt)
            session.tokenType = reply.tokenType
            if let scope = reply.scope { session.scope = scope }
            if let idToken = reply.idToken { refresh?.idToken = idToken }
        } else {
            session.accessToken = nil
        }
        replaceRefreshToken(with: reply)
        for (origin, nonce) in reply.nonces { key?.nonces[origin] = nonce }
        if let expiresAt = session.expiresAt, reply.accessToken != nil, expiresAt <= reply.obtainedAt {
            // It came expired: the next call would ask again at once, and so on.
            postpone(from: reply.obtainedAt, retryAfter: nil, random: 1)
        }
        position = position.successor
        intent = nil
        session.doubtCause = nil
        session.cameAfterDoubt = afterDoubt
        tellOfCommit(reply, afterDoubt: afterDoubt, isFromSpool: isFromSpool)
    }

    private mutating func tellOfCommit(_ reply: SpooledReply, afterDoubt: Bool, isFromSpool: Bool) {
        guard reply.accessToken != nil else {
            auditEvents.append(AuditEvent(.renewalFailed, [.init("cause", "successorOnly")]))
            return
        }
        var detail: [AuditEvent.Detail] = []
        if afterDoubt { detail.append(.init("after", "doubt")) }
        if isFromSpool { detail.append(.init("from", "spool")) }
        auditEvents.append(AuditEvent(.renewed, detail))
    }

    mutating func replaceAccessToken(_ token: SecretBytes, obtainedAt: Timestamp, expiresAt: Timestamp?) {
        session.accessToken = token
        session.obtainedAt = obtainedAt
        session.expiresAt = expiresAt
        session.state = .established
        session.clearObstacles()
        dueAt = expiresAt
    }

    mutating func remember(_ nonces: [String: DPoPNonce]) {
        for (origin, nonce) in nonces { key?.nonces[origin] = nonce.rawValue }
    }

    /// No renewal before a while, in any process.
    mutating func postpone(from now: Timestamp, retryAfter: Duration?, random: Double) {
        session.attempts += 1
        session.notBefore = now.advanced(
            by: Backoff.renewal.pause(afterFailures: session.attempts, retryAfter: retryAfter, random: random))
    }
}

extension SessionRecord {
    /// Forgets everything that stood in the way of renewals of the token before.
    mutating func clearObstacles() {
        failure = nil
        notifiedFailure = false
        notBefore = nil
        attempts = 0
        rejectedGeneration = nil
        rejections = nil
    }
}

extension TokenType {
    /// As registered where it is registered.
    var storedForm: String {
        self == .bearer || self == .dpop ? description : rawValue
    }
}
