import VaultStorage

/// What is going on inside a ``SessionState``. Read, not streamed: see ``UserManager/sessionPhase(login:)``.
public enum SessionPhase: String, Sendable, CaseIterable {
    // Of `established`.

    /// Nothing to do yet.
    case fresh
    /// The access token expires within the time of ``SessionEvent/Kind/willExpire(at:)``.
    case expiring
    /// A renewal is under way, here or in another process.
    case refreshing
    /// A renewal may have reached the provider, and no usable reply came.
    case inDoubt
    /// No renewal is tried before some time: a backoff, the provider's wish, or the app's.
    case postponed

    // Of `tokenExpired`: `postponed`, `inDoubt` and `refreshing` as well.

    /// The next call renews.
    case retrying
    /// The login is dead.
    case refreshFailed
}

extension Vault {
    /// Nil for a login that is neither *established* nor *tokenExpired*.
    func phase(of stored: StoredLogin) -> SessionPhase? {
        let now = now
        let hasRunOut: Bool
        switch SessionLook(stored.session, at: now) {
        case .establishing, .terminated: return nil
        case .refreshFailed: return .refreshFailed
        case .established: hasRunOut = false
        case .tokenExpired: hasRunOut = true
        }
        if let intent = stored.intent {
            let isAbandoned = owner(of: intent) == .gone
            // A question to the app that nobody waits for any more has spent nothing.
            if intent.isInDoubt || isAbandoned && !intent.isAsking { return .inDoubt }
            if !isAbandoned { return .refreshing }
        }
        if let notBefore = stored.session.notBefore, notBefore > now { return .postponed }
        if hasRunOut { return .retrying }
        let warnsAt = stored.session.expiresAt?.advanced(by: .zero - sessions.options.willExpireLead)
        return warnsAt.map { $0 <= now } ?? false ? .expiring : .fresh
    }
}
