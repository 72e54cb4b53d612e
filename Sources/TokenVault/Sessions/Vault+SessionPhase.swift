import VaultStorage

extension Vault {
    /// Nil for a login that is neither *established* nor *tokenExpired*.
    func phase(of stored: StoredLogin) -> SessionPhase? {
        let now = now
        switch SessionSummary(stored.session, at: now) {
        case .establishing, .terminated: return nil
        case .refreshFailed: return .refreshFailed
        case .established, .tokenExpired: break
        }
        if let intent = stored.intent {
            let isAbandoned = owner(of: intent) == .gone
            // A question to the app that no caller waits for any longer has spent nothing.
            if intent.isInDoubt || isAbandoned && !intent.isAsking { return .inDoubt }
            if !isAbandoned { return .refreshing }
        }
        if let notBefore = stored.session.notBefore, notBefore > now { return .postponed }
        if stored.session.hasExpired(at: now) { return .retrying }
        let warnsAt = stored.session.expiresAt?.advanced(by: .zero - sessions.options.willExpireLead)
        return warnsAt.map { $0 <= now } ?? false ? .expiring : .fresh
    }
}
