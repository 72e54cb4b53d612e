import OAuthClient
import VaultCrypto
import VaultStorage

// What a stored token is good for, now.
extension Vault {
    /// Judges a stored token by the clock that counts for it.
    func judge(_ snapshot: SessionSnapshot, _ target: TokenTarget = .own) -> TokenJudge {
        TokenJudge(
            position: snapshot.position, session: snapshot.session, target: target, now: now, setBack: clock.setBack)
    }

    func judge(_ stored: StoredLogin) -> TokenJudge {
        TokenJudge(position: stored.position, session: stored.session, now: now, setBack: clock.setBack)
    }

    /// What keeps this login from being renewed, as far as the session tells.
    func obstacle(in snapshot: SessionSnapshot) -> RenewalRefusal? {
        RenewalRefusal(
            session: snapshot.session, userStatus: snapshot.userStatus, isHeld: snapshot.isHeld, now: now)
    }

    /// The stored access token; nil if there is none that can be used.
    func usableToken(in snapshot: SessionSnapshot, _ target: TokenTarget = .own) throws -> VaultToken? {
        if snapshot.userStatus == .disabled { throw VaultError(.userDisabled, now: now) }
        if snapshot.session.state == .terminated { throw VaultError(.terminated, now: now) }
        let session = snapshot.session
        guard let stored = StoredToken(target, in: session, at: snapshot.position) else { return nil }
        let type = TokenType(stored.tokenType)
        // A bound token is of no use once its key is destroyed.
        if session.failure?.isFinal == true, type == .dpop { return nil }
        guard let text = stored.accessToken.string(), let accessToken = try? AccessToken(text) else { return nil }
        var token = VaultToken(
            accessToken: accessToken, tokenType: type, expiresAt: stored.expiresAt?.date, scope: stored.scope,
            login: LoginID(snapshot.login), generation: Int(stored.generation))
        token.expirySource = ExpirySource(stored.expiresAt, isAssumed: stored.isExpiryAssumed)
        token.attributes = session.attributes
        token.target = target
        token.provider = snapshot.provider
        return token
    }
}
