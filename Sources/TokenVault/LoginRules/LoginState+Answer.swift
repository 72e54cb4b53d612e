import OAuthClient
import VaultCrypto
import VaultStorage

extension IntentRecord {
    /// Nothing is sent under it: the app is being asked. If its owner dies, nothing is in doubt.
    package var isAsking: Bool { tries == 0 && doubtSince == nil }
}

// The effects on a login of the app's answer, or of the provider's answer to a token of the app.
extension LoginState {
    /// Tokens of a grant of their own. They continue the chain if they are an access token alone for a session that is
    /// alive; otherwise they are a log-in, and start a new one.
    mutating func takeAnswer(_ reply: SpooledReply) -> ChainPosition {
        guard reply.refreshToken != nil || session.hasExpired(at: reply.obtainedAt) else { return position.successor }
        refresh = reply.refreshToken.map {
            RefreshRecord(refreshToken: $0, refreshExpiresAt: reply.refreshExpiresAt, idToken: reply.idToken)
                .keepingReplaced(of: refresh)
        }
        if let token = reply.idToken?.string().flatMap({ try? IDToken($0) }), let identity = IDTokenIdentity(token) {
            session.subject = identity.subject
        }
        session.resourceTokens = []
        session.attributes = [:]
        session.grantedAt = reply.obtainedAt
        if let scope = reply.scope { session.grantedScope = scope }
        return position.newChain
    }

    /// Discards an answer that came when the login no longer waited for it. While the login is alive the answer is
    /// dropped: revoking it could end more than the answer's own grant. Otherwise it is revoked like any late reply.
    mutating func discardReplyForRevocation(_ reply: SpooledReply, of claim: RenewalClaim, at now: Timestamp) {
        if intent?.fence == claim.fence { intent = nil }
        if !isLiving, let record = reply.revocation(at: now) { outbox.append(record) }
    }
}
