import OAuthClient
package import VaultStorage

extension Login {
    init(_ stored: some LoginRow, provider: String?, now: Timestamp) {
        let session = stored.session
        id = LoginID(stored.handle)
        userId = stored.userId
        self.provider = provider
        state = SessionState(session, now: now)
        label = session.label
        metadata = session.metadata
        scope = Scope(stored: session.scope)
        tokenType = TokenType(session.tokenType)
        generation = Int(stored.position.generation)
        createdAt = session.createdAt.date
        obtainedAt = session.obtainedAt.date
        expiresAt = session.expiresAt?.date
        expirySource = ExpirySource(session.expiresAt, isAssumed: session.isExpiryAssumed)
        isRefreshable = stored.refresh?.refreshToken != nil
        isDPoPBound = stored.key != nil
        failure = RefreshFailure(session)
        needsUser = session.failure?.isDead == false
        notBefore = session.notBefore.flatMap { $0 > now ? $0.date : nil }
        isInDoubt = stored.intent?.isInDoubt ?? false || stored.refresh?.doubtSince != nil
        hold = stored.hold
        attributes = session.attributes
        grantedScope = Scope(stored: session.grantedScope)
        isRefused = stored.isRefused
        lastRefusal = session.lastRefusal.map { Refusal(date: $0.at.date, answer: ProviderAnswer($0)) }
        resource = session.resource
        hiddenSubject = HiddenText(text: session.subject)
        origin = session.origin.map { LoginOrigin($0, of: stored.handle) }
        resourceTokens = session.resourceTokens.map { token in
            ResourceToken(
                resource: token.target.resource, requestedScope: Scope(stored: token.target.scope),
                scope: Scope(stored: token.scope),
                expiresAt: token.expiresAt?.date, isRejected: token.isRejected)
        }
    }
}

extension LoginRow {
    /// Why nothing is sent for the login.
    package var hold: Login.Hold? {
        guard isHeld else { return nil }
        switch session.origin?.owner {
        case .contested: return .contested
        case .source: return .source
        case .vault, nil: return .restore
        }
    }

    /// Whether the provider refused the last renewal for a reason that does not pass by itself.
    package var isRefused: Bool {
        guard let refusal = session.lastRefusal, session.failure == nil, session.state != .terminated,
            intent?.isInDoubt != true
        else { return false }
        return ProviderAnswer(refusal).isLasting
    }
}

extension ProviderAnswer {
    /// Whether asking again later is pointless by itself, judging from status and code.
    fileprivate var isLasting: Bool {
        let passing: Set<OAuthErrorCode> = [.temporarilyUnavailable, .serverError, .slowDown]
        guard let status, !(error.map { passing.contains($0) } ?? false) else { return false }
        return (400..<500).contains(status) && ![408, 425, 429].contains(status)
    }

    /// Whether it is about this client.
    package var isAboutClient: Bool { error == .invalidClient || error == .unauthorizedClient }
}

extension LoginOrigin {
    init(_ origin: ImportOrigin, of login: LoginHandle) {
        let owner: Owner =
            switch origin.owner {
            case .source: .source
            case .vault: .vault
            case .contested: .contested
            }
        self.init(
            source: origin.source, owner: owner, takenAt: origin.takenAt.date, isMissing: origin.isMissing,
            isExported: origin.isExported(login))
    }
}

extension ExpirySource {
    init(_ expiresAt: Timestamp?, isAssumed: Bool) {
        self = expiresAt == nil ? .unknown : isAssumed ? .assumed : .told
    }
}

extension RefreshFailure {
    /// The flag, if the login is dead.
    init?(_ session: SessionRecord) {
        guard let failure = session.failure, failure.isDead else { return nil }
        self.init(failure)
    }

    init(_ failure: FailureRecord) {
        self.init(reason: Reason(code: failure.reason), date: failure.at.date)
    }
}

extension SessionState {
    /// Restores a stored login at this time: an expiry is not written, it just happens.
    package init(_ session: SessionRecord, now: Timestamp) {
        self.init(SessionSummary(session, at: now))
    }

    package init(_ look: SessionSummary) {
        switch look {
        case .establishing: self = .establishing
        case .established: self = .established
        case .tokenExpired: self = .tokenExpired(nil)
        case .refreshFailed(let failure): self = .tokenExpired(RefreshFailure(failure))
        case .terminated(let reason): self = .terminated(TerminationReason(code: reason))
        }
    }
}
