import OAuthClient
package import TokenVault
import VaultStorage

extension UserManager {
    /// Revives a login that is dead although its provider never reported its grant as dead.
    ///
    /// For a login that ended as ``RefreshFailure/Reason/unclassifiedRejection`` or
    /// ``RefreshFailure/Reason/keyMismatch``, for one that needs its user, and for one that its provider ended, as long
    /// as ``ProviderRegistration/daysEndedIsKept`` keeps its refresh token. Its refresh token and key were kept: the
    /// flag is lifted, and the next call renews it. Do it when the obstacle is gone: a firewall, a moved endpoint, a
    /// missing approval. This sends nothing.
    /// - Throws: ``VaultError/Code/notRefreshable`` if the login no longer has a refresh token,
    ///   ``VaultError/Code/conflict`` if it does not need this, or was ended on the word of its provider or the app.
    @discardableResult
    package func revive(_ login: LoginRef) async throws -> Login {
        let login = try await handle(of: login)
        let now = vault.now
        let updated = try await vault.updateLogin(login) { state in
            try state.requireUnheld(now: now)
            try state.revive()
            return state
        }
        return await vault.describe(updated)
    }
}

extension RefreshFailure.Reason {
    fileprivate var cause: String {
        switch self {
        case .deadGrant: "the provider ended this login"
        case .lostResponse: "a reply of the provider was lost"
        case .refusedByHandler: "the app said that this login can no longer be renewed"
        default: "the login is dead"
        }
    }
}

extension LoginState {
    fileprivate mutating func revive() throws {
        guard let failure = session.failure else {
            throw VaultError(.conflict, "the login is not dead, so there is nothing to revive")
        }
        let reason = RefreshFailure.Reason(code: failure.reason)
        guard
            !failure.isDead || reason == .unclassifiedRejection || reason == .keyMismatch
                || session.isEndedAndKept(refresh)
        else {
            throw VaultError(
                reason == .deadGrant || reason == .lostResponse ? .notRefreshable : .conflict,
                "\(reason.cause), and its refresh token is gone",
                hint: "set a new access token, or let the user log in again")
        }
        guard refresh?.refreshToken != nil, key != nil || TokenType(session.tokenType) != .dpop else {
            throw VaultError(
                .notRefreshable, "the login has nothing left to renew it with",
                hint: "set a new access token, or let the user log in again")
        }
        session.failure = nil
        session.notifiedFailure = false
        session.clearPostponements()
        session.state = .established
        auditEvents.append(
            AuditEvent(
                .loginRevived,
                [failure.isDead ? .reason(reason) : .init(AuditEvent.Detail.Key.reason, AuditCause.needsUser.rawValue)]
            ))
    }
}
