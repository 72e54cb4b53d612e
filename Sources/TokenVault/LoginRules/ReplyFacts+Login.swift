import OAuthClient
import VaultCrypto
import VaultStorage

extension ReplyFacts {
    /// A reply with tokens, before it changes the login.
    init(_ reply: SpooledReply, to state: LoginState) {
        var next = NextToken.none
        if let token = reply.refreshToken { next = token == state.refresh?.refreshToken ? .same : .new }
        self.init(
            nextToken: reply.hasLostSuccessor ? nil : next,
            saysLifetime: reply.target.isOwn && reply.expiresAt != nil && !reply.isExpiryAssumed,
            idle: state.seconds(sinceTokenAt: reply.obtainedAt))
    }

    /// The end of a login, before it is recorded.
    init(endOf state: LoginState, at now: Timestamp) {
        self.init(idle: state.seconds(sinceTokenAt: now), age: state.seconds(sinceConsentAt: now))
    }

    init(logIn draft: LoginDraft) {
        self.init(
            nextToken: draft.refresh?.refreshToken == nil ? NextToken.none : .new,
            saysLifetime: draft.session.expiresAt != nil && !draft.session.isExpiryAssumed)
    }
}

extension LoginState {
    /// Unknown for an imported chain: only its own system knows when the user consented.
    fileprivate func seconds(sinceConsentAt time: Timestamp) -> Int64? {
        guard session.origin == nil, let since = session.grantedAt ?? (position.chain == 1 ? session.createdAt : nil)
        else { return nil }
        return max(0, time.since(since).components.seconds)
    }

    fileprivate func seconds(sinceTokenAt time: Timestamp) -> Int64 {
        max(0, time.since(session.obtainedAt).components.seconds)
    }
}
