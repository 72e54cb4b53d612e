import VaultStorage

extension UserManager {
    // MARK: States

    /// How this login looks now. Reads the vault on the calling thread; sends nothing.
    ///
    /// A login that the vault does not have is ``SessionState/notLoggedIn``.
    public func sessionState(login: LoginID) throws -> SessionState {
        try vault.sessionState(login)
    }

    /// How this user looks now: the best of their logins counts, so that a dead or ended one never flags the others.
    /// That is *established*, then *establishing* (a log-in is under way in this process), then *tokenExpired* without
    /// a failure, then the latest failure, then *terminated*.
    public func sessionState(userId: String) throws -> SessionState {
        try vault.sessionState(userID: ArgumentCheck.userID(userId))
    }

    /// What is going on inside the state of this login; nil where nothing can be.
    public func sessionPhase(login: LoginID) throws -> SessionPhase? {
        try VaultError.translating { vault.phase(of: try vault.store.login(login.handle)) }
    }

    /// The state of this login: the current one first, then each change, wherever it was made.
    public func sessionStates(login: LoginID) -> SessionStates {
        let sessions = vault.sessions
        return SessionStates { sessions.subscribeToStates(.login(login.handle)) }
    }

    /// The state of this user, as in ``sessionState(userId:)``: the current one first, then each change.
    public func sessionStates(userId: String) -> SessionStates {
        let sessions = vault.sessions
        return SessionStates { sessions.subscribeToStates(.user(userId)) }
    }

    // MARK: Events

    /// What happens to all logins, from now on.
    ///
    /// Warnings and expiries of access tokens come for logins that are being renewed; memory does not grow with the
    /// vault.
    public func events() -> SessionEvents { vault.events(.all) }

    /// What happens to this user's logins, from now on. The user need not exist yet.
    public func events(userId: String) -> SessionEvents { vault.events(.user(userId)) }

    /// What happens to this login, from now on.
    public func events(login: LoginID) -> SessionEvents { vault.events(.login(login.handle)) }
}
