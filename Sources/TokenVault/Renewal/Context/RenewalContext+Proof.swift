import Logging
import VaultStorage

extension RenewalContext {
    func noteUnproven(_ reply: SpooledReply) {
        guard reply.refreshToken != nil else { return }
        unproven.note(
            .init(login: reply.login, generation: reply.position.successor.generation, since: vault.now))
    }

    /// A resource server has accepted this token: the provider has really issued it, and the previous refresh token is
    /// useless now. If it came after a doubt, the doubt has passed.
    func prove(_ token: VaultToken) {
        let (login, generation) = (token.login.handle, Int64(token.generation))
        var entry = unproven.take(login, generation: generation)
        // Another process may have renewed.
        if entry == nil, token.cameAfterDoubt, unproven.isFirstProof(of: login, generation: generation) {
            entry = .init(login: login, generation: generation, since: vault.now)
        }
        guard let entry, vault.flightStarted() else { return }
        vault.spawn {
            await self.forgetPrevious(entry, isProven: true)
            self.vault.flightEnded()
        }
    }

    /// Erases previous refresh tokens that have been kept for a day, and unusable replies after a week.
    func forgetAged() async {
        let aged = vault.now.advanced(by: .zero - UnusableReplyRecord.longestKept)
        do {
            try await vault.store.forgetUnusableReplies(before: aged)
        } catch {
            vault.logger.debug("unusable replies could not be erased yet")
        }
        for entry in unproven.takeAll(before: vault.now.advanced(by: .zero - RefreshRecord.longestKept)) {
            await forgetPrevious(entry, isProven: false)
        }
    }

    /// - Parameter isProven: Whether a resource server has accepted the new token. Otherwise time alone has passed.
    private func forgetPrevious(_ entry: UnprovenTokens.Entry, isProven: Bool) async {
        do {
            try await vault.change(entry.login) { state in
                guard state.position.generation == entry.generation else { return }
                if isProven { state.healDoubt() }
                guard state.refresh?.previousRefresh != nil, state.refresh?.previousRole != .successor else { return }
                state.refresh?.forgetPrevious()
                state.auditEvents.append(AuditEvent(.renewalProven))
            }
        } catch {
            // The next renewal erases it.
            vault.logger.debug(
                "an old refresh token could not be erased yet", metadata: ["vault-login-handle": "\(entry.login.text)"])
        }
    }
}
