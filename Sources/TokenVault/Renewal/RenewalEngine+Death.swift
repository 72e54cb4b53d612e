import Logging
import VaultStorage

extension RenewalEngine {
    /// Tells the app that a login has died: once, by one process, for each death.
    ///
    /// The mark is durable before the call. A process that dies between the two tells nobody; one that dies before
    /// the mark leaves the telling to whoever meets the login next.
    func announceDeath(of login: LoginHandle) async {
        guard let handler else { return }
        let userID: String?
        do {
            userID = try await vault.change(login) { state in
                guard state.session.failure?.isFinal == true, !state.session.notifiedFailure else { return nil }
                state.session.notifiedFailure = true
                state.auditEvents.append(AuditEvent(.failureNotified))
                return state.userID
            }
        } catch {
            // Nothing was marked, so the next call for this login finds it untold.
            vault.logger.debug(
                "the end of a login could not be marked as told", metadata: ["vault-login-handle": "\(login.text)"])
            return
        }
        guard let userID else { return }
        let answer = OneAnswer<Void>()
        let asked = AskedLogin(login: login) { answer.isOpen }
        _ = ask(asked) {
            await handler.onRefreshFailed(userId: userID, login: LoginID(login))
            answer.give(())
        }
        // Callers are not kept waiting for ever by a handler that does not return.
        let watch = vault.superseding.watch(login) { answer.give(()) }
        let alarm = alarm { answer.give(()) }
        await answer.value()
        alarm?.cancel()
        vault.superseding.unwatch(watch)
    }

    /// For a death that another process found and had no handler to tell.
    func announceDeathIfUntold(_ snapshot: SessionSnapshot) {
        guard handler != nil, snapshot.session.failure?.isFinal == true, !snapshot.session.notifiedFailure,
            vault.flightStarted()
        else { return }
        vault.spawn {
            await self.announceDeath(of: snapshot.login)
            self.vault.flightEnded()
        }
    }
}
