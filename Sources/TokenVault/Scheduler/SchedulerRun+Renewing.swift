import Logging
import OAuthClient
import Synchronization
import VaultStorage

extension SchedulerRun {
    /// A login that only an app can renew, and whose token expired longer ago than this, is left to the app's next
    /// call.
    private static let longestWaitForApp = Duration.seconds(86_400)

    /// The result for a login, and how long it is then left alone.
    private struct Step {
        var outcome: RenewalOutcome?
        var refusal: RenewalRefusal?
        var rest = SchedulerState.shortRest
        /// When its provider is asked again, if it is left alone.
        var until: Timestamp?
        /// Whether the vault could not be read or written.
        var isUnserved = false
        /// Whether its provider refuses our client.
        var isClientRefused = false
    }

    /// Examines a login, and renews it if it is really due and no other renewal is in progress.
    func renew(_ candidate: Candidate) async {
        let startedAt = vault.now
        let step = await step(candidate)
        if let provider = candidate.provider { context.health.change(provider) { $0.pace.end() } }
        let uptime = vault.timeSource.uptime()
        state.withLock { state in
            if step.isUnserved { return state.endUnserved(candidate, uptime: uptime) }
            state.end(candidate, rest: step.rest, uptime: uptime)
            if step.outcome == .renewed { state.noteServed() }
            state.noteRefusal(candidate, isClientRefused: step.isClientRefused)
        }
        if let outcome = step.outcome { await tell(candidate, outcome, step, startedAt) }
    }

    /// Counts what recovery has settled as the work of this pass: by now these logins are renewed, or have ended.
    func tellSettled() async {
        for end in users.recovery.takeEnds() {
            let candidate = Candidate(login: end.login, provider: nil)
            await tell(candidate, RenewalOutcome(end.ending), Step(), end.startedAt)
        }
    }

    private func step(_ candidate: Candidate) async -> Step {
        let stored: StoredLogin
        do throws(StoreError) {
            stored = try await vault.store.login(candidate.login)
        } catch {
            switch error.code {
            case .notFound: return Step()
            case .busy, .io, .ownershipLost, .full: return Step(isUnserved: true)
            // It is damaged: the next caller that asks for it gets an error.
            default: return Step(rest: SchedulerState.longRest)
            }
        }
        if let intent = stored.intent, !intent.isInDoubt {
            // A process is working on it, or died while doing so, which is recovery's concern.
            return Step(rest: vault.owner(of: intent) == .working ? .seconds(5) : SchedulerState.shortRest)
        }
        if stored.session.isEndedAndKept(stored.refresh) {
            await forgetEnded(stored)
            return Step()
        }
        guard let due = await healed(stored) else { return Step() }
        guard vault.classifier(stored).isDue(due, now: vault.now) else { return Step() }
        if stored.isHeld { return Step(rest: SchedulerState.longRest) }
        if stored.refresh?.refreshToken == nil, !context.canAskApp {
            await letGo(stored)
            return Step(rest: SchedulerState.longRest)
        }
        guard case .ended(let ending) = await engine.joinInBackground(candidate.login, demand: .due) else {
            return Step()
        }
        let rest =
            await ending == .renewed ? restAfterRenewal(of: candidate.login) : rest(after: ending, candidate.provider)
        let refusal: RenewalRefusal? =
            switch ending {
            case .refused(let refusal): refusal
            case .failed(.notSent(.ownershipLost)): .ownershipLost
            default: nil
            }
        var until: Timestamp?
        switch refusal {
        case .breakerOpen(let end), .providerStopped(let end): until = end
        default: break
        }
        return Step(
            outcome: RenewalOutcome(ending), refusal: refusal, rest: rest, until: until,
            isUnserved: Self.isUnserved(ending), isClientRefused: Self.isClientRefused(ending))
    }

    private static func isClientRefused(_ ending: RenewalMachine.Ending) -> Bool {
        switch ending {
        case .failed(.clientRefused), .refused(.breakerOpen): true
        default: false
        }
    }

    private static func isUnserved(_ ending: RenewalMachine.Ending) -> Bool {
        switch ending {
        case .refused(.storeBusy), .refused(.storeFailed), .refused(.storageFull), .refused(.ownershipLost),
            .failed(.notSent(.ownershipLost)):
            true
        default: false
        }
    }

    /// A token that lives for less than a minute is checked again before it expires, if possible.
    private func restAfterRenewal(of login: LoginHandle) async -> Duration {
        guard let session = try? await vault.store.login(login).session, let expiresAt = session.expiresAt else {
            return SchedulerState.shortRest
        }
        let lifetime = expiresAt.since(session.obtainedAt)
        return max(SchedulerState.leastRest, min(SchedulerState.shortRest, lifetime / 2))
    }

    /// When the login is due. A row with another value, written by an older version, is corrected.
    private func healed(_ stored: StoredLogin) async -> Timestamp? {
        let due = stored.nextDue
        if due != stored.dueAt { try? await vault.change(stored.handle) { _ in } }
        return due
    }

    /// Destroys the kept tokens of a login that its provider has ended, once the time is over.
    private func forgetEnded(_ stored: StoredLogin) async {
        let now = vault.now
        try? await vault.change(stored.handle) { state in
            guard state.session.isEndedAndKept(state.refresh), let end = state.session.notBefore, end <= now else {
                return
            }
            state.refresh = nil
            state.session.notBefore = nil
        }
    }

    /// Takes the login out of the index: its next write brings it back.
    private func letGo(_ stored: StoredLogin) async {
        guard let expiresAt = stored.session.expiresAt, vault.now.since(expiresAt) >= Self.longestWaitForApp else {
            return
        }
        try? await vault.store.updateLogin(stored.handle) { state in
            guard state.refresh?.refreshToken == nil, state.session.expiresAt == expiresAt else { return }
            state.dueAt = nil
        }
    }

    private func rest(after ending: RenewalMachine.Ending, _ provider: ProviderHandle?) -> Duration {
        switch ending {
        case .refused(.breakerOpen(let until)), .refused(.providerStopped(let until)):
            if let provider {
                let (now, uptime) = (vault.now, vault.timeSource.uptime())
                context.health.change(provider) { health in
                    // Refused logins wait longer than the others, and a login waits longer than its provider.
                    let breaker = health.breaker
                    let hold =
                        breaker.isHalfOpen(now: now)
                        ? min(until.since(now), Breaker.advantage) : breaker.pause(now: now)
                    health.pace.leaveAlone(until: uptime + hold)
                }
            }
            return .seconds(1)
        case .refused(.held), .refused(.heldBySource), .refused(.providerMissing), .refused(.notRefreshable),
            .refused(.mayNotSendAgain):
            return SchedulerState.longRest
        case .renewed, .satisfied, .superseded, .refused, .failed, .successorOnly:
            return SchedulerState.shortRest
        }
    }

    private func tell(
        _ candidate: Candidate, _ outcome: RenewalOutcome, _ step: Step, _ startedAt: Timestamp
    ) async {
        report { $0.outcomes[outcome, default: 0] += 1 }
        guard let onRenewal = options.onRenewal else { return }
        let stored = try? await vault.store.login(candidate.login)
        let provider = await vault.name(of: candidate.provider ?? stored?.provider)
        let nextLook = max(vault.now.advanced(by: step.rest), step.until ?? vault.now)
        // An older one was the answer to another renewal.
        let refusal = stored?.session.lastRefusal.flatMap { $0.at >= startedAt ? $0 : nil }
        onRenewal(
            ScheduledRenewal(
                login: LoginID(candidate.login), provider: provider, outcome: outcome,
                failure: stored.flatMap { RefreshFailure($0.session) },
                answer: refusal.map { ProviderAnswer($0) },
                obstacle: step.refusal.map { VaultError($0, now: vault.now) },
                expiresAt: stored?.session.accessToken == nil ? nil : stored?.session.expiresAt?.date,
                nextDue: stored?.dueAt.map { max($0, nextLook).date }))
    }
}
