import Logging
import VaultStorage

extension RenewalContext {
    /// Failures found by one query.
    private static let mostUnreported = 256

    /// Notifies the app that a login is dead, or that its user must act: once, by one process, for each time.
    ///
    /// The mark is durable before the call. A process that dies between the two makes no call; one that dies before the
    /// mark leaves the call to the next one that has a handler.
    func announceFailure(of login: LoginHandle) async {
        guard let handler else { return }
        let news: (userId: String, isDead: Bool)?
        do {
            news = try await vault.change(login) { state in
                guard let failure = state.session.failure, !state.session.notifiedFailure else { return nil }
                state.session.notifiedFailure = true
                state.auditEvents.append(AuditEvent(.failureNotified))
                return (state.userId, failure.isDead)
            }
        } catch {
            // Nothing was marked, so the failure is found again.
            vault.logger.debug(
                "a failure could not be marked as told", metadata: ["vault-login-handle": "\(login.text)"])
            return
        }
        guard let news else { return }
        let answer = OneAnswer<Void>()
        let asked = AskedLogin(login: login) { answer.isOpen }
        _ = ask(asked) {
            if news.isDead {
                await handler.onRefreshFailed(userId: news.userId, login: LoginID(login))
            } else {
                await handler.onUserNeeded(userId: news.userId, login: LoginID(login))
            }
            answer.give(())
        }
        // A handler that does not return must not keep callers waiting.
        let watch = vault.superseding.watch(login) { answer.give(()) }
        let alarm = alarm { answer.give(()) }
        await answer.value()
        alarm?.cancel()
        vault.superseding.unwatch(watch)
    }

    /// Announces a failure that another process found and had no handler for.
    func announceFailureIfUnreported(_ snapshot: SessionSnapshot) {
        guard handler != nil, snapshot.session.hasUnreportedFailure else { return }
        announceSoon([snapshot.login])
    }

    /// Announces all failures found by processes without a handler, whether or not a caller asks for these logins.
    func announceUnreportedFailures() async {
        guard handler != nil, let logins = try? await vault.store.unreportedFailures(limit: Self.mostUnreported),
            !logins.isEmpty
        else { return }
        announceSoon(logins)
    }

    private func announceSoon(_ logins: [LoginHandle]) {
        guard vault.flightStarted() else { return }
        vault.spawn {
            for login in logins where !self.vault.isClosing { await self.announceFailure(of: login) }
            self.vault.flightEnded()
        }
    }
}
