import OAuthClient
import VaultCrypto
import VaultStorage

// The tokens of a reply have one form from receipt to commit, in memory and in the spool.
extension SpooledReply {
    /// Tokens of the provider.
    init(_ issued: IssuedTokens, of attempt: RenewalAttempt, startedAt: Timestamp) {
        self.init(of: attempt, tokenType: issued.tokenType.storedForm, obtainedAt: startedAt)
        accessToken = SecretBytes(utf8: issued.accessToken.reveal())
        scope = issued.scope?.description
        expiresAt = issued.expiresIn.map { startedAt.advanced(by: $0) }
        refreshToken = issued.refreshToken.map { SecretBytes(utf8: $0.reveal()) }
        refreshExpiresAt = issued.refreshExpiresIn.map { startedAt.advanced(by: $0) }
        idToken = issued.idToken.map { SecretBytes(utf8: $0.reveal()) }
        isExpiryAssumed = issued.isLifetimeAssumed
        // With the values of variables, so that even a reply that is found later can be revoked where it belongs.
        let own = attempt.provider?.record.variableValues(in: attempt.stored.session.attributes) ?? [:]
        attributes = own.merging(issued.attributes) { $1 }
        hasLostSuccessor = issued.hasLostSuccessor
    }

    /// A refresh token without a usable access token.
    init(_ partial: PartialTokens, of attempt: RenewalAttempt, startedAt: Timestamp) {
        self.init(of: attempt, tokenType: attempt.stored.session.tokenType, obtainedAt: startedAt)
        refreshToken = SecretBytes(utf8: partial.refreshToken.reveal())
        refreshExpiresAt = partial.refreshExpiresIn.map { startedAt.advanced(by: $0) }
    }

    /// A token of the app.
    init(_ handed: RefreshedAccessToken, of attempt: RenewalAttempt, at now: Timestamp) {
        self.init(of: attempt, tokenType: attempt.stored.session.tokenType, obtainedAt: now)
        accessToken = SecretBytes(utf8: handed.accessToken.reveal())
        expiresAt = try? GivenExpiry(handed.expiresAt, now: now).checked()
    }

    private init(of attempt: RenewalAttempt, tokenType: String, obtainedAt: Timestamp) {
        self.init(
            login: attempt.stored.login, user: attempt.stored.user, provider: attempt.provider?.handle,
            position: attempt.claim.position, fence: attempt.claim.fence, accessToken: nil, tokenType: tokenType,
            obtainedAt: obtainedAt, dpopPrivateKey: attempt.stored.key?.dpopPrivateKey,
            nonces: attempt.nonces.mapValues(\.rawValue), resource: attempt.claim.target.resource,
            requestedScope: attempt.claim.target.scope)
    }
}
