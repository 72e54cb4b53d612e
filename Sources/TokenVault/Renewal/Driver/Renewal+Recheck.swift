import VaultStorage

extension Renewal {
    /// An intent that has been durable for longer than this is given back and written again: the conditions checked
    /// with it may no longer hold. Each time this happens to a renewal, the next intent may be twice as old: a slow
    /// machine takes longer, and gets there.
    static func longestWayToRequest(givenBack: Int) -> Duration { .seconds(2 << min(max(0, givenBack), 8)) }

    /// The last check before the refresh token is sent: whether this process still owns the intent as others see it,
    /// and whether the login and its provider are unchanged. Nil: send.
    ///
    /// After it there is nothing but the writing of the request itself. A change during that can only be detected at
    /// the server, which refuses signed requests that come late.
    ///
    /// - Parameter since: The time that counts as the claim's, if the app was asked in between.
    func obstacle(
        _ attempt: RenewalAttempt, _ claim: RenewalClaim, since: Duration? = nil
    ) async -> RenewalFailure.Obstacle? {
        guard vault.store.ownsItsLock else { return .ownershipLost }
        let lookedAt = vault.timeSource.uptime()
        do throws(StoreError) {
            let stored = try await vault.store.login(login)
            guard stored.position == claim.position, stored.intent?.fence == claim.fence,
                stored.intent?.owner == vault.store.owner, !stored.isHeld, stored.userStatus == .active,
                stored.session.state != .terminated
            else { return .changed }
            if let provider = attempt.provider {
                let current = try await vault.store.provider(provider.handle)
                guard current.revision == provider.revision else { return .changed }
            }
        } catch {
            return error.code == .ownershipLost ? .ownershipLost : .changed
        }
        // A replay has an old intent, which was just confirmed to be the current one.
        let since = since ?? (claim.tries > attempt.claim.tries ? lookedAt : attempt.claimedAt)
        let longest = min(attempt.longestWay, vault.store.longestWayToRequest ?? attempt.longestWay)
        return vault.timeSource.uptime() - since < longest ? nil : .tooLate
    }

    /// The same where the app or the provider was asked since the claim: the time for that does not count.
    func obstacleNow(_ attempt: RenewalAttempt, _ claim: RenewalClaim) async -> RenewalFailure.Obstacle? {
        await obstacle(attempt, claim, since: vault.timeSource.uptime())
    }
}
