import VaultStorage

extension UserManager {
    // MARK: States

    /// The current state of this session. Reads the vault on the calling thread; sends nothing.
    ///
    /// A login that the vault does not have is ``SessionState/notLoggedIn``. For a user, the best of their logins
    /// counts, so that a dead or ended one never flags the others. That is *established*, then *establishing* (a log-in
    /// is in progress in this process), then *tokenExpired* without a failure, then the latest failure, then
    /// *terminated*.
    package func sessionState(of session: SessionRef) async throws -> SessionState {
        switch session.choice {
        case .login(let id): try await vault.sessionState(of: id)
        case .user(let userId): try await vault.sessionState(of: names.user(userId))
        }
    }

    /// The activity within this login's state; nil where there can be none.
    package func sessionPhase(of login: LoginRef) async throws -> SessionPhase? {
        let login = try await handle(of: login)
        return try await VaultError.translating { vault.phase(of: try await vault.store.login(login)) }
    }

    /// The state of this session: the current one first, then each change, wherever it was made.
    ///
    /// Each iterator is a subscriber of its own. One that fetches too slowly misses states in between, never the newest. The
    /// sequence ends when the task is cancelled and when the vault is closed.
    public func sessionStates(of session: SessionRef) -> some AsyncSequence<SessionState, Never> & Sendable {
        let (vault, names) = (vault, names)
        return SessionStates {
            vault.sessions.subscribeToStates(names.feed(session))
        } isVisible: {
            guard case .login(let id) = session.choice, names != .whole else { return true }
            return (try? await vault.handle(of: names.login(.login(id)))) != nil
        }
    }

    // MARK: Events

    /// Events in this session, or in all of them, from now on.
    ///
    /// Of all logins, warnings and expiries of access tokens come for those that are being renewed; memory does not grow
    /// with the vault.
    ///
    /// Each iterator is a subscriber of its own, from the moment of the call, or of `makeAsyncIterator()`. One that fetches too
    /// slowly loses the oldest events, which is reported as ``SessionEvent/Kind/missed(count:)``. The sequence ends when the
    /// task is cancelled and when the vault is closed.
    public func events(
        of session: SessionRef? = nil
    ) -> some AsyncSequence<SessionEvent, Never> & Sendable {
        vault.events(names.feed(session), names)
    }

    /// The events of this user's logins, from now on. The user need not exist yet.
    public func events(userId: String) -> some AsyncSequence<SessionEvent, Never> & Sendable {
        events(of: .user(userId))
    }
}
