import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension RenewalEngine {
    /// Brings replies that the vault could not take when they came to where they belong: into the vault, if their attempt
    /// is still the one that the login waits for; otherwise to where such tokens go.
    ///
    /// Any number of processes may do this at once. The first commit counts; the others find it.
    ///
    /// - Parameter login: nil for all logins.
    @discardableResult
    func restoreSpooled(of login: LoginHandle? = nil) async -> Restored {
        var restored = Restored()
        let listings: [SpoolListing]
        do throws(StoreError) {
            listings = try vault.store.spooledReplies()
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
        if restored.count > 0, options.retriesRevocationsInBackground { revokeSoon() }
        return restored
    }

    struct Restored {
        var count = 0
        /// Whether none is left of those that were looked for.
        var isComplete = true
        /// Why the last of them is left.
        var failure: (any Error)?
    }

    /// Nothing can be had from an entry that was cut short: it was never acknowledged, so its tokens were in the memory of
    /// its process alone. One that is whole and does not open is left for an operator.
    private func dropIfTorn(_ listing: SpoolListing) {
        guard listing.damage == .torn, let handle = listing.handle, listing.owner != vault.store.owner else { return }
        vault.logger.warning("a spooled reply was cut short when its process ended")
        try? vault.store.unspool(handle)
    }

    /// One of ours whose renewal is still trying: it comes to its end by itself.
    private func isBeingStored(_ reply: SpooledReply, _ owner: Int64) -> Bool {
        owner == vault.store.owner ? vault.isUnderWay(reply.fence) : vault.store.isOwnerAlive(owner)
    }

    private func restore(_ reply: SpooledReply, _ handle: SpoolHandle) async throws {
        let now = vault.now
        do {
            try await vault.change(reply.login) { state in
                if state.holds(reply) { return }
                guard state.isOpen(RenewalClaim(reply)) else { return state.disown(reply, spent: nil, at: now) }
                state.commit(reply, afterDoubt: state.intent?.isInDoubt ?? false, isFromSpool: true)
            }
        } catch let error as StoreError where error.code == .notFound(.login) {
            if let record = reply.revocation(at: now) { try await vault.store.addOutbox([record]) }
        }
        try vault.store.unspool(handle)
    }

    /// Whether spooled tokens serve a caller.
    func isAcceptable(_ reply: SpooledReply, for demand: RenewalDemand) -> Bool {
        guard reply.accessToken != nil else { return false }
        let session = SessionRecord(
            state: .established, accessToken: reply.accessToken, tokenType: reply.tokenType,
            createdAt: reply.obtainedAt, obtainedAt: reply.obtainedAt, expiresAt: reply.expiresAt)
        return TokenJudge(position: reply.position.successor, session: session, now: vault.now)
            .isAcceptable(for: demand)
    }

    /// The access token of a spooled reply, if the login is still where it was when the reply came.
    func usableToken(in reply: SpooledReply, _ current: SessionSnapshot) -> VaultToken? {
        guard current.position == reply.position, current.session.failure?.isFinal != true else { return nil }
        return token(of: reply, current)
    }

    /// The access token of a reply that has just come, where the login's row cannot be read: the reply is newer than
    /// whatever was read before.
    ///
    /// - Parameter known: What was read last.
    func usableToken(received reply: SpooledReply, _ known: SessionSnapshot) -> VaultToken? {
        token(of: reply, known)
    }

    private func token(of reply: SpooledReply, _ known: SessionSnapshot) -> VaultToken? {
        guard known.userStatus == .active, known.session.state != .terminated,
            let text = reply.accessToken?.string(), let accessToken = try? AccessToken(text)
        else { return nil }
        // Of another chain nothing holds for this one.
        let session = known.position.chain == reply.position.chain ? known.session : nil
        var token = VaultToken(
            accessToken: accessToken, tokenType: TokenType(reply.tokenType), expiresAt: reply.expiresAt?.date,
            scope: reply.scope ?? (reply.target.isOwn ? session?.scope : nil), login: LoginID(reply.login),
            generation: Int(reply.position.successor.generation), isVolatile: true)
        token.expirySource = ExpirySource(reply.expiresAt, isAssumed: reply.isExpiryAssumed)
        token.attributes = (session?.attributes ?? [:]).merging(reply.attributes) { $1 }
        token.target = reply.target
        token.provider = known.provider
        return token
    }
}
