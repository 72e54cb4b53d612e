import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension RenewalContext {
    /// Stores spooled replies, which the vault could not take when they came: in their login, if it still waits for
    /// their attempt; otherwise wherever such tokens belong.
    ///
    /// Any number of processes may do this at once. The first commit counts; the others find it done.
    ///
    /// - Parameter login: nil for all logins.
    @discardableResult
    func restoreSpooled(of login: LoginHandle? = nil) async -> Restored {
        var restored = Restored()
        let listings: [SpoolListing]
        do throws(StoreError) {
            listings = try vault.store.spool.listings()
        } catch {
            restored.isComplete = false
            restored.failure = error
            return restored
        }
        for listing in listings {
            dropIfTorn(listing)
            guard let reply = listing.reply, let handle = listing.handle, login == nil || reply.login == login,
                !isBeingStored(reply, listing.owner)
            else { continue }
            do {
                try await restore(reply, handle)
                restored.count += 1
            } catch {
                restored.isComplete = false
                restored.failure = error
                vault.logger.debug(
                    "a spooled reply could not be restored yet",
                    metadata: ["vault-login-handle": "\(reply.login.text)"])
            }
        }
        if restored.count > 0, options.retriesRevocationsInBackground { revoker.revokeSoon() }
        return restored
    }

    struct Restored {
        var count = 0
        /// Whether no reply of the requested logins is left.
        var isComplete = true
        /// Why the last of them was left.
        var failure: (any Error)?
    }

    /// Removes an entry that was cut short: it was never acknowledged, so its tokens existed only in the memory of its
    /// process. A complete one that cannot be opened is left for an operator.
    private func dropIfTorn(_ listing: SpoolListing) {
        guard listing.damage == .torn, let handle = listing.handle, listing.owner != vault.store.owner else { return }
        vault.logger.warning("a spooled reply was cut short when its process ended")
        try? vault.store.spool.remove(handle)
    }

    /// Whether it is a reply of this process whose renewal is still trying to store it.
    private func isBeingStored(_ reply: SpooledReply, _ owner: Int64) -> Bool {
        owner == vault.store.owner && vault.isUnderWay(reply.fence)
    }

    private func restore(_ reply: SpooledReply, _ handle: SpoolHandle) async throws {
        let now = vault.now
        do {
            try await vault.change(reply.login) { state in
                if state.holds(reply) { return }
                guard state.isOpen(RenewalClaim(reply)) else {
                    return state.discardForRevocation(reply, spent: nil, at: now)
                }
                state.commit(reply, afterDoubt: state.intent?.isInDoubt ?? false, isFromSpool: true)
            }
        } catch let error as StoreError where error.code == .notFound(.login) {
            if let record = reply.revocation(at: now) { try await vault.store.addOutbox([record]) }
        }
        try vault.store.spool.remove(handle)
    }
}
