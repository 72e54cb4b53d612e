import OAuthClient
import VaultCrypto
import VaultStorage

// What a stored token is good for, now.
extension Vault {
    /// Judges a stored token by the clock that counts for it.
    @inline(__always)
    func judge(_ stored: some StoredSession, _ target: TokenTarget = .own) -> TokenJudge {
        TokenJudge(stored.session.times(target, at: stored.position), now: now, setBack: clock.setBack)
    }

    /// The stored access token; nil if there is none that can be used.
    func usableToken(in snapshot: SessionSnapshot, _ target: TokenTarget = .own) throws -> VaultToken? {
        try snapshot.requireActive(now: now)
        guard let stored = snapshot.session.token(target, at: snapshot.position) else { return nil }
        let type = TokenType(stored.tokenType)
        // A bound token is of no use once its key is destroyed.
        if snapshot.session.failure?.isDead == true, type == .dpop { return nil }
        guard let text = stored.accessToken.string(), let accessToken = try? AccessToken(text) else { return nil }
        var token = VaultToken(
            accessToken: accessToken, tokenType: type, expiresAt: stored.expiresAt?.date, scope: stored.scope,
            login: LoginID(snapshot.login), generation: Int(stored.generation))
        token.expirySource = ExpirySource(stored.expiresAt, isAssumed: stored.isExpiryAssumed)
        token.attributes = snapshot.session.attributes
        token.target = target
        token.provider = snapshot.provider
        return token
    }
}
