import OAuthClient
import VaultCrypto
import VaultStorage

extension LoginRow {
    /// Refuses a login of a disabled user, and one that another system renews.
    func requireReplaceable(now: Timestamp) throws {
        if userStatus == .disabled { throw VaultError(.userDisabled, now: now) }
        if session.isHeldBySource { throw VaultError.heldBySource }
    }

    /// As ``requireReplaceable(now:)``; refuses one that has been terminated since the log-in began, too.
    func requireReplaceable(_ target: ReplacedLogin, now: Timestamp) throws {
        try requireReplaceable(now: now)
        guard session.state != .terminated || position.chain == target.chain else {
            throw VaultError(.terminated, now: now)
        }
    }

    /// A login that was bound to a key stays so, where the provider allows it. Nil: the provider's policy decides.
    func keepsKey(_ policy: ProviderRecord.DPoPPolicy) -> Bool? {
        policy != .never && TokenType(session.tokenType) == .dpop ? true : nil
    }
}

extension LoginState {
    /// Starts a new chain with the tokens of a log-in. Of the old one, only the app's label and metadata stay.
    ///
    /// The position is new, so that no renewal in progress can change the login. Tokens from such a renewal are revoked
    /// like any late reply.
    mutating func logInAgain(
        _ draft: LoginDraft, _ target: ReplacedLogin, _ style: RevocationStyle, now: Timestamp
    ) throws {
        // A commit that was reported as failed may have succeeded all the same.
        guard !holds(draft) else { return }
        try requireReplaceable(target, now: now)
        let isOther = session.subject != nil && draft.session.subject != session.subject
        guard !isOther || target.acceptsOtherAccount else {
            throw VaultError(otherAccount: draft.session.subject)
        }
        let asked = Scope(stored: draft.session.requestedScope)
        if let asked, let known = Scope(stored: session.requestedScope), position.chain != target.chain,
            !asked.contains(known)
        {
            throw VaultError(lost: !known.contains(asked))
        }
        outbox += replacedGrant(draft, style, now: now)
        let old = session
        session = draft.session
        (session.label, session.metadata) = (old.label, old.metadata)
        session.createdAt = old.createdAt
        if let asked, draft.session.repeatedConsents > 0, Scope(stored: old.requestedScope)?.contains(asked) == true {
            session.repeatedConsents += old.repeatedConsents
        }
        session.subject = draft.session.subject ?? (isOther ? nil : old.subject)
        session.grantedAt = draft.session.obtainedAt
        refresh = draft.refresh?.keepingReplaced(of: refresh)
        key = draft.key
        intent = nil
        position = position.newChain
        auditEvents.append(
            AuditEvent(
                .loggedInAgain, isOther ? [.init(AuditEvent.Detail.Key.account, "other")] : [],
                facts: ReplyFacts(logIn: draft)))
    }

    private func holds(_ draft: LoginDraft) -> Bool {
        session.accessToken == draft.session.accessToken && refresh?.refreshToken == draft.refresh?.refreshToken
            && session.grantedAt == draft.session.obtainedAt
    }

    /// The revocations of the old grant. None where the new one would end with it, and none for a chain from a backup:
    /// the vault that was backed up may still be in use.
    private func replacedGrant(_ draft: LoginDraft, _ style: RevocationStyle, now: Timestamp) -> [OutboxRecord] {
        guard let provider, !isHeld, !style.endsOtherChains else { return [] }
        if let own = refresh?.refreshToken, own == draft.refresh?.refreshToken { return [] }
        return planRevocation([provider: style], now: now).records
    }
}

extension VaultError {
    /// Another log-in into the same login was completed since this one began, and this one would take its scope away.
    ///
    /// - Parameter hasMore: Whether this one has a scope that the other had not asked for.
    fileprivate init(lost hasMore: Bool) {
        self.init(
            .conflict, "another log-in into this login has been completed since this one began, with other scopes",
            hint: hasMore
                ? "what this one asked for is not granted: ask the user again, for both"
                : "the login has all that this one asked for")
    }

    fileprivate init(otherAccount subject: String?) {
        guard subject != nil else {
            self.init(
                .otherAccount, "the provider did not say which account logged in",
                hint: "ask for the scope openid, or accept any account")
            return
        }
        self.init(
            .otherAccount, "the user logged in with another account than this login's",
            hint: "let the user log in again with the account of this login")
    }
}

extension AuditEvent.Detail.Key {
    /// Records that another account at the provider replaced the one before.
    static let account = "account"
}
