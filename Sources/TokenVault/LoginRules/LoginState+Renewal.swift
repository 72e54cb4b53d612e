import OAuthClient
import VaultCrypto
import VaultStorage

// The writes of a renewal, inside their transactions. Each is conditional on what the attempt was entitled to.
extension LoginState {
    /// Whether this attempt is still the one that the login waits for.
    ///
    /// The generation is compared through the intent: when the app sets an access token during a renewal, both advance
    /// together, and the refresh token that was sent is still the current one.
    func isOpen(_ claim: RenewalClaim) -> Bool {
        guard let intent, session.state != .terminated, userStatus == .active else { return false }
        return position.chain == claim.position.chain && intent.fence == claim.fence
            && intent.generation == position.generation && (!intent.isAsking || position == claim.position)
    }

    /// Whether the stored tokens are those of this reply.
    func holds(_ reply: SpooledReply) -> Bool {
        guard position == reply.position.successor || position == reply.position.newChain, intent == nil else {
            return false
        }
        if let accessToken = reply.accessToken {
            return session.token(reply.target, at: position)?.accessToken == accessToken
        }
        return refresh?.refreshToken == reply.refreshToken
    }

    /// D2: the next link of the chain.
    mutating func commit(_ reply: SpooledReply, afterDoubt: Bool, isFromSpool: Bool = false) {
        let scopeBefore = session.scope
        let facts = ReplyFacts(reply, to: self)
        let isAnswer = intent?.isAsking ?? false
        let next = isAnswer ? takeAnswer(reply) : position.successor
        if reply.target.isOwn { takeOwnToken(of: reply) } else { takeResourceToken(of: reply) }
        if reply.accessToken != nil, let idToken = reply.idToken { refresh?.idToken = idToken }
        // From a token for one resource, only attributes that hold for all tokens are kept.
        session.attributes.merge(reply.attributes.filter { reply.target.isOwn || $0.key != Login.detailsName }) { $1 }
        if !isAnswer { replaceRefreshToken(with: reply) }
        for (origin, nonce) in reply.nonces { key?.nonces[origin] = nonce }
        if let expiresAt = reply.expiresAt, reply.accessToken != nil, expiresAt <= reply.obtainedAt {
            // It came expired: the next call would ask again at once, and so on.
            postpone(from: reply.obtainedAt, retryAfter: nil, random: 1)
        }
        position = next
        intent = nil
        session.doubtCause = nil
        session.cameAfterDoubt = afterDoubt
        let scopeChange = reply.target.isOwn ? Self.change(of: scopeBefore, to: session.scope) : nil
        reportCommit(reply, afterDoubt: afterDoubt, isFromSpool: isFromSpool, scopeChange, facts)
    }

    /// The database was reset to an earlier state during an attempt: its reply is newer than anything stored, and the
    /// stored refresh token is spent. A login that is held stays so: another reply may be newer still.
    ///
    /// - Parameter spent: the token that it was given for, if that is known.
    mutating func catchUp(with reply: SpooledReply, spent: SecretBytes?) {
        session.accessGeneration = session.accessGeneration ?? position.generation
        position = reply.position
        if let spent { refresh?.refreshToken = spent }
        // An intent of an attempt with an earlier token, which will find that it was overtaken.
        intent = nil
        commit(reply, afterDoubt: true)
    }

    /// The server may reduce or change the scope in a renewal; only the reply says so.
    private static func change(of old: String?, to new: String?) -> ScopeChange? {
        guard let new, let old, new != old, let tokens = try? Scope(new).tokens, let before = try? Scope(old).tokens
        else { return nil }
        if before.contains(where: { !tokens.contains($0) }) { return .narrower }
        return tokens.contains { !before.contains($0) } ? .wider : nil
    }

    private mutating func takeOwnToken(of reply: SpooledReply) {
        guard let accessToken = reply.accessToken else {
            session.accessToken = nil
            session.accessGeneration = nil
            return
        }
        replaceAccessToken(accessToken, obtainedAt: reply.obtainedAt, expiresAt: reply.expiresAt)
        session.isExpiryAssumed = reply.isExpiryAssumed
        session.tokenType = reply.tokenType
        if let scope = reply.scope { session.scope = scope }
    }

    /// The login's own token stays, with its generation.
    private mutating func takeResourceToken(of reply: SpooledReply) {
        session.accessGeneration = session.accessGeneration ?? position.generation
        guard let accessToken = reply.accessToken else { return }
        session.clearPostponements()
        var token = TokenRecord(
            target: reply.target, accessToken: accessToken, tokenType: reply.tokenType, scope: reply.scope,
            obtainedAt: reply.obtainedAt, expiresAt: reply.expiresAt, generation: position.successor.generation)
        token.isExpiryAssumed = reply.isExpiryAssumed
        session.keep(token)
    }

    private mutating func reportCommit(
        _ reply: SpooledReply, afterDoubt: Bool, isFromSpool: Bool, _ scopeChange: ScopeChange?, _ facts: ReplyFacts
    ) {
        guard reply.accessToken != nil else {
            auditEvents.append(AuditEvent(.renewalFailed, [.cause(.successorOnly)]))
            return
        }
        var detail: [AuditEvent.Detail] = []
        if afterDoubt { detail.append(.init(AuditEvent.Detail.Key.after, "doubt")) }
        if isFromSpool { detail.append(.init(AuditEvent.Detail.Key.from, "spool")) }
        if let scopeChange { detail.append(.init(AuditEvent.Detail.Key.scope, scopeChange.rawValue)) }
        if !reply.target.isOwn {
            detail.append(.init(AuditEvent.Detail.Key.target, reply.resource == nil ? "scope" : "resource"))
        }
        auditEvents.append(AuditEvent(.renewed, detail, facts: facts))
    }

    mutating func replaceAccessToken(_ token: SecretBytes, obtainedAt: Timestamp, expiresAt: Timestamp?) {
        session.accessToken = token
        session.obtainedAt = obtainedAt
        session.expiresAt = expiresAt
        session.isExpiryAssumed = false
        session.accessGeneration = nil
        session.state = .established
        session.clearObstacles()
    }

    mutating func remember(_ nonces: [String: DPoPNonce]) {
        for (origin, nonce) in nonces { key?.nonces[origin] = nonce.rawValue }
    }

    /// The pause for an app that has no token.
    static let pauseForApp = Duration.seconds(600)

    /// Postpones at the app's request. This is no failure, so it does not make later backoffs longer.
    mutating func postponeForApp(from now: Timestamp, random: Double) {
        session.notBefore = now.advanced(by: Self.pauseForApp + Self.pauseForApp / 10 * random)
    }

    /// Prevents renewals for a while, in any process.
    mutating func postpone(
        from now: Timestamp, by backoff: Backoff = .renewal, retryAfter: Duration?, random: Double
    ) {
        session.attempts += 1
        session.notBefore = now.advanced(
            by: backoff.pause(afterFailures: session.attempts, retryAfter: retryAfter, random: random))
    }
}

extension SessionRecord {
    /// Clears all obstacles to renewals that belonged to the previous token.
    package mutating func clearObstacles() {
        failure = nil
        notifiedFailure = false
        rejectedGeneration = nil
        clearPostponements()
    }

    /// Forgets that renewals did not succeed before.
    package mutating func clearPostponements() {
        notBefore = nil
        attempts = 0
        rejections = nil
        lastRefusal = nil
    }
}

extension TokenType {
    /// As registered where it is registered.
    var storedForm: String {
        self == .bearer || self == .dpop ? description : rawValue
    }
}
