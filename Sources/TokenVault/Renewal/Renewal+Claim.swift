import OAuthClient
import VaultStorage

extension Renewal {
    /// D1: reads the row again, judges it again, and writes the intent, in one transaction.
    func claim(_ demand: RenewalDemand) async -> (RenewalMachine.Event, RenewalAttempt?) {
        let provider: StoredProvider?
        do {
            // Before anything is written: whether the provider is there and may be asked.
            let stored = try vault.store.login(login)
            let needed = stored.refresh?.refreshToken != nil ? stored.provider : nil
            provider = try needed.map { try vault.store.provider($0) }
        } catch {
            return (Self.event(for: error), nil)
        }
        if let provider,
            let until = engine.breakers.openUntil(provider.handle, revision: provider.revision, now: vault.now)
        {
            return (.refused(.breakerOpen(until: until)), nil)
        }
        return await writeIntent(demand, provider)
    }

    private func writeIntent(
        _ demand: RenewalDemand, _ provider: StoredProvider?
    ) async -> (RenewalMachine.Event, RenewalAttempt?) {
        let now = vault.now
        let vault = vault
        let fences = fences
        let replays = (try? provider?.record.profile.immediateReplays) ?? 1
        let circumstances = ClaimDecision.Circumstances(
            demand: demand, now: now, canUseProvider: provider != nil, hasHandler: engine.handler != nil,
            owner: { vault.owner(of: $0) })
        do {
            return try await vault.store.updateLogin(login) { state in
                switch ClaimDecision(state, circumstances) {
                case .satisfied: return (.satisfied, nil)
                case .refused(let refusal): return (.refused(refusal), nil)
                case .ownedElsewhere: return (.ownedElsewhere, nil)
                case .proceed(let method, let doubtSince):
                    var claim = state.open(method, doubtSince: doubtSince, owner: vault.store.owner, at: now)
                    claim.replays = replays
                    // Known as under way before anybody can read the intent.
                    vault.attemptStarted(claim.fence)
                    fences.insert(claim.fence)
                    let stored = ClaimedLogin(
                        userID: state.userID, session: state.session, refresh: state.refresh, key: state.key)
                    return (.claimed(claim), RenewalAttempt(claim: claim, provider: provider, stored: stored))
                }
            }
        } catch {
            return (Self.event(for: error), nil)
        }
    }

    /// What a failed read or write means before anything was sent.
    private static func event(for error: any Error) -> RenewalMachine.Event {
        switch (error as? StoreError)?.code {
        case .notFound(.provider): .refused(.providerMissing)
        case .notFound: .refused(.loginMissing)
        case .closed: .closed
        default: .storeFailed
        }
    }
}

extension LoginState {
    fileprivate mutating func open(
        _ method: RenewalClaim.Method, doubtSince: Timestamp?, owner: Int64, at now: Timestamp
    ) -> RenewalClaim {
        let tries = intent?.tries ?? 0
        let fence = openIntent(owner: owner, at: now).fence
        intent?.doubtSince = doubtSince
        intent?.tries = tries + 1
        auditEvents.append(AuditEvent(doubtSince == nil ? .renewalStarted : .intentTakenOver))
        return RenewalClaim(position: position, fence: fence, method: method, isInDoubt: doubtSince != nil)
    }
}
