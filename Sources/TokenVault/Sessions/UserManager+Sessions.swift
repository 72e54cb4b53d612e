import VaultStorage

extension UserManager {
    // MARK: States

    /// The current state of this session. Reads the vault on the calling thread; sends nothing.
    ///
    /// A login that the vault does not have is ``SessionState/notLoggedIn``. For a user, the best of their logins
    /// counts, so that a dead or ended one never flags the others. That is *established*, then *establishing* (a log-in
    /// is in progress in this process), then *tokenExpired* without a failure, then the latest failure, then
    /// *terminated*.
    public func sessionState(of session: SessionRef) async throws -> SessionState {
        switch session.choice {
        case .login(let id): try await vault.sessionState(id)
        case .user(let userId): try await vault.sessionState(userId: ArgumentCheck.userId(userId))
        }
    }

    /// The activity within this login's state; nil where there can be none.
    package func sessionPhase(of login: LoginRef) async throws -> SessionPhase? {
        let login = try await vault.handle(of: login)
        return try await VaultError.translating { vault.phase(of: try await vault.store.login(login)) }
    }

    /// The state of this session: the current one first, then each change, wherever it was made.
    public func sessionStates(of session: SessionRef) -> SessionStates {
        let (sessions, scope) = (vault.sessions, FeedScope(session))
        return SessionStates { sessions.subscribeToStates(scope) }
    }

    // MARK: Events

    /// Events in this session, or in all of them, from now on.
    ///
    /// For all logins, warnings and expiries of access tokens are reported for those that are being renewed; memory
    /// does not grow with the vault.
    public func events(of session: SessionRef? = nil) -> SessionEvents {
        vault.events(session.map { FeedScope($0) } ?? .all)
    }

    /// Events of this user's logins, from now on. The user need not exist yet.
    public func events(userId: String) -> SessionEvents { events(of: .user(userId)) }
}

extension FeedScope {
    fileprivate init(_ session: SessionRef) {
        switch session.choice {
        case .login(let id): self = .login(id.handle)
        // An id that begins like a tenant's is no plain user's, and has no events here.
        case .user(let userId): self = .user(ArgumentCheck.isForeign(userId) ? "" : userId)
        }
    }
}
