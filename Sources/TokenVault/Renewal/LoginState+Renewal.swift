import OAuthClient
import VaultCrypto
import VaultStorage

/// Tokens that an attempt brought, while they are in memory only.
enum TokensInHand: Sendable {
    case issued(IssuedTokens, startedAt: Timestamp)
    /// A refresh token without a usable access token.
    case successor(PartialTokens, startedAt: Timestamp)
    /// From the app.
    case handed(RefreshedAccessToken, at: Timestamp)

    /// What must not be lost, nor left alive when nobody can use it.
    var refreshToken: RefreshToken? {
        switch self {
        case .issued(let tokens, _): tokens.refreshToken
        case .successor(let tokens, _): tokens.refreshToken
        case .handed: nil
        }
    }
}

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

    /// Whether these very tokens are the stored ones.
    func holds(_ tokens: TokensInHand, of claim: RenewalClaim) -> Bool {
        guard position == claim.position.successor, intent == nil else { return false }
        return switch tokens {
        case .issued(let issued, _): session.accessToken == SecretBytes(utf8: issued.accessToken.reveal())
        case .successor(let partial, _): refresh?.refreshToken == SecretBytes(utf8: partial.refreshToken.reveal())
        case .handed(let handed, _): session.accessToken == SecretBytes(utf8: handed.accessToken.reveal())
        }
    }

    /// D2: the next link of the chain.
    mutating func commit(_ tokens: TokensInHand, nonces: [String: DPoPNonce]) {
        switch tokens {
        case .issued(let issued, let startedAt): commit(issued, startedAt: startedAt)
        case .successor(let partial, let startedAt): commit(partial, startedAt: startedAt)
        case .handed(let handed, let time):
            replaceAccessToken(handed.accessToken, obtainedAt: time, expiresAt: handed.expiresAt.map { Timestamp($0) })
        }
        remember(nonces)
        position = position.successor
        intent = nil
    }

    private mutating func commit(_ issued: IssuedTokens, startedAt: Timestamp) {
        replaceAccessToken(
            issued.accessToken, obtainedAt: startedAt, expiresAt: issued.expiresIn.map { startedAt.advanced(by: $0) })
        session.tokenType = issued.tokenType.storedForm
        if let scope = issued.scope { session.scope = scope.description }
        if let idToken = issued.idToken { refresh?.idToken = SecretBytes(utf8: idToken.reveal()) }
        replaceRefreshToken(issued.refreshToken, expiresIn: issued.refreshExpiresIn, startedAt: startedAt)
        if let expiresAt = session.expiresAt, expiresAt <= startedAt {
            // It came expired: the next call would ask again at once, and so on.
            postpone(from: startedAt, retryAfter: nil, random: 1)
        }
        auditEvents.append(AuditEvent(.renewed))
    }

    private mutating func commit(_ partial: PartialTokens, startedAt: Timestamp) {
        session.accessToken = nil
        replaceRefreshToken(partial.refreshToken, expiresIn: partial.refreshExpiresIn, startedAt: startedAt)
        if !partial.cause.redeemsAtOnce { postpone(from: startedAt, retryAfter: nil, random: 1) }
        auditEvents.append(AuditEvent(.renewalFailed, [.init("cause", partial.cause.rawValue)]))
    }

    mutating func replaceAccessToken(_ token: AccessToken, obtainedAt: Timestamp, expiresAt: Timestamp?) {
        session.accessToken = SecretBytes(utf8: token.reveal())
        session.obtainedAt = obtainedAt
        session.expiresAt = expiresAt
        session.state = .established
        session.clearObstacles()
        dueAt = expiresAt
    }

    private mutating func replaceRefreshToken(
        _ token: RefreshToken?, expiresIn: Duration?, startedAt: Timestamp
    ) {
        let expiresAt = expiresIn.map { startedAt.advanced(by: $0) }
        guard let token else {
            if let expiresAt { refresh?.refreshExpiresAt = expiresAt }
            return
        }
        let old = refresh?.refreshToken
        let new = SecretBytes(utf8: token.reveal())
        var record = refresh ?? RefreshRecord(refreshToken: new)
        if let old, old != new { record.previousRefresh = old }
        record.refreshToken = new
        record.refreshExpiresAt = expiresAt
        refresh = record
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
