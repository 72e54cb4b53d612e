import OAuthClient
import VaultCrypto
import VaultStorage

// Checks of a stored token at the current time.
extension Vault {
    /// What a stored token is good for, by the clock that counts for it.
    func classifier(_ stored: some StoredSession) -> TokenClassifier {
        classifier(stored.session, at: stored.position, .own)
    }

    /// The same of a session's token for this target.
    @inline(__always)
    func classifier(_ session: SessionRecord, at position: ChainPosition, _ target: TokenTarget) -> TokenClassifier {
        TokenClassifier(session.times(target, at: position), now: now, setBack: clock.setBack)
    }

    /// The stored access token; nil if there is none that can be used.
    func usableToken(in snapshot: SessionSnapshot, _ target: TokenTarget = .own) throws -> VaultToken? {
        try snapshot.session.requireActive(snapshot.userStatus, now: now)
        let session = snapshot.session
        guard target.isOwn else {
            return session.token(target, at: snapshot.position).flatMap { stored in
                token(
                    stored.accessToken, stored.tokenType, stored.expiresAt, stored.isExpiryAssumed, stored.scope,
                    stored.generation, target, snapshot)
            }
        }
        // The session's fields suffice for nearly every read, so no record is decoded first.
        guard let accessToken = session.accessToken else { return nil }
        return token(
            accessToken, session.tokenType, session.expiresAt, session.isExpiryAssumed, session.scope,
            session.accessGeneration ?? snapshot.position.generation, target, snapshot)
    }

    @inline(__always)
    private func token(
        _ secret: SecretBytes, _ typeText: String, _ expiresAt: Timestamp?, _ isExpiryAssumed: Bool, _ scope: String?,
        _ generation: Int64, _ target: TokenTarget, _ snapshot: SessionSnapshot
    ) -> VaultToken? {
        let type = TokenType(typeText)
        // A bound token is of no use once its key is destroyed.
        if snapshot.session.failure?.isDead == true, type == .dpop { return nil }
        guard let accessToken = AccessToken(stored: secret) else { return nil }
        return VaultToken(
            accessToken: accessToken, tokenType: type, expiresAt: expiresAt, isExpiryAssumed: isExpiryAssumed,
            scope: scope, login: LoginID(snapshot.login), generation: generation,
            attributes: snapshot.session.attributes, target: target,
            resourceOfLogin: snapshot.session.resource, cameAfterDoubt: snapshot.session.cameAfterDoubt,
            provider: snapshot.provider)
    }
}
