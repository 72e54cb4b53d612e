package import TokenVault
import VaultStorage

extension UserManager {
    /// Takes over a renewal from a stalled process, so that the next call can renew.
    ///
    /// Nothing does this automatically, because it is dangerous: if that process resumes after all, the provider sees
    /// the refresh token twice, and may end the login for it. End the process instead, where that is possible: then any
    /// manager takes over within milliseconds, and safely.
    ///
    /// The renewal is in doubt from then on, and the audit trail records the takeover.
    /// - Throws: ``VaultError/Code/conflict`` if no process holds a renewal of this login.
    package func takeOver(_ login: LoginRef) async throws {
        let (login, now) = await (try handle(of: login), vault.now)
        try await vault.updateLogin(login) { state in
            guard let intent = state.intent, intent.owner != IntentRecord.nobody else {
                throw VaultError(.conflict, "no process has begun a renewal of this login")
            }
            state.takeOver(intent, at: now)
        }
    }
}
