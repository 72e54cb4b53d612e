import OAuthClient
import VaultCrypto
import VaultStorage

// Tokens that are served from the spool until the vault can take them.
extension RenewalEngine {
    /// Whether spooled tokens serve a caller.
    func isAcceptable(_ reply: SpooledReply, for demand: RenewalDemand) -> Bool {
        guard reply.accessToken != nil else { return false }
        let session = SessionRecord(
            state: .established, accessToken: reply.accessToken, tokenType: reply.tokenType,
            createdAt: reply.obtainedAt, obtainedAt: reply.obtainedAt, expiresAt: reply.expiresAt)
        return TokenClassifier(position: reply.position.successor, session: session, now: vault.now)
            .isAcceptable(for: demand)
    }

    /// The access token of a spooled reply, if the login has not changed since the reply came.
    func usableToken(in reply: SpooledReply, _ current: SessionSnapshot) -> VaultToken? {
        guard current.position == reply.position, current.session.failure?.isDead != true else { return nil }
        return token(of: reply, current)
    }

    /// The access token of a reply that has just come, where the login's row cannot be read: the reply is newer than
    /// any earlier reading.
    ///
    /// - Parameter known: The login as it was read last.
    func usableToken(received reply: SpooledReply, _ known: SessionSnapshot) -> VaultToken? {
        token(of: reply, known)
    }

    private func token(of reply: SpooledReply, _ known: SessionSnapshot) -> VaultToken? {
        guard known.userStatus == .active, known.session.state != .terminated,
            let accessToken = reply.accessToken.flatMap({ AccessToken(stored: $0) })
        else { return nil }
        // Nothing from another chain applies to this one.
        let session = known.position.chain == reply.position.chain ? known.session : nil
        return VaultToken(
            accessToken: accessToken, tokenType: TokenType(reply.tokenType), expiresAt: reply.expiresAt,
            isExpiryAssumed: reply.isExpiryAssumed,
            scope: reply.scope ?? (reply.target.isOwn ? session?.scope : nil), login: LoginID(reply.login),
            generation: reply.position.successor.generation, isVolatile: true,
            attributes: (session?.attributes ?? [:]).merging(reply.attributes) { $1 }, target: reply.target,
            resourceOfLogin: known.session.resource, provider: known.provider)
    }
}
