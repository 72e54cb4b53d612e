import OAuthClient
import VaultStorage

extension Renewal {
    /// D1: reads the row again, checks it again, and writes the intent, in one transaction.
    ///
    /// - Parameters:
    ///   - mayAsk: Whether the ``SessionHandler`` must be asked, if there is one.
    ///   - continuing: The claim under which it was asked, if it was: this one replaces it.
    ///   - givenBack: How many claims of this renewal have been given back before.
    func claim(
        _ demand: RenewalDemand, mayAsk: Bool, continuing: RenewalClaim?, givenBack: Int
    ) async -> (RenewalMachine.Event, RenewalAttempt?) {
        if let refusal = vault.store.readOnlyRefusal { return (.refused(.readOnly(refusal)), nil) }
        guard vault.store.ownsItsLock else { return (.ownershipLost, nil) }
        let provider: StoredProvider?
        var hasOtherLogins = false
        var abandoned: Int64?
        // Checked once: a handler that is installed later is asked at the next renewal.
        let asks = mayAsk && context.sessionHandlers.isInstalled
        let sends: Bool
        let isClean: Bool
        let obtainedAt: Timestamp
        do {
            // Before anything is written: does the provider exist, and may it be asked?
            let stored = try await vault.store.login(login)
            sends = stored.refresh?.refreshToken != nil && !asks
            isClean = stored.session.isClean
            obtainedAt = stored.session.obtainedAt
            let needsProvider = stored.refresh?.refreshToken != nil || context.sessionHandlers.isInstalled
            let needed = needsProvider ? stored.provider : nil
            provider = if let needed { try await vault.store.provider(needed) } else { nil }
            if let intent = stored.intent, vault.owner(of: intent) == .gone {
                // Replies that the intent's owner may have spooled come first: a replaced token must not be sent.
                let restored = await context.restoreSpooled(of: login)
                guard restored.isComplete else {
                    return (restored.failure.map(Self.event) ?? .storeFailed, nil)
                }
                abandoned = intent.fence
            }
            if abandoned != nil || stored.refresh?.doubtSince != nil, let provider,
                (try? ReplayPolicy(provider.record))?.asksForOtherLogins ?? true
            {
                hasOtherLogins = await vault.hasOtherLogins(than: login, of: stored.userId, at: provider.handle)
            }
            if let provider, sends { try await context.followStop(of: provider) }
            // Reserves room for the reply, in case the vault cannot take it.
            if provider != nil { try vault.store.spool.prepare(for: vault.flightCount) }
        } catch {
            return (Self.event(for: error), nil)
        }
        if let provider, let until = openUntil(provider, isClean: isClean) {
            return (.refused(refusal(by: provider, until: until)), nil)
        }
        if let provider, sends, let until = provider.record.renewableFrom(obtainedAt), until > vault.now {
            return (.refused(.postponed(until: until)), nil)
        }
        if context.refusedTargets.isRefused(target, of: login, now: vault.now) {
            return (.refused(.targetRefused), nil)
        }
        var plan = Plan(
            provider: provider, abandoned: abandoned, hasOtherLogins: hasOtherLogins, asks: asks,
            questionFence: continuing?.method == .session ? continuing?.fence : nil, givenBack: givenBack)
        // Asking the app needs no permit: it may take a minute.
        if let provider, sends { await waitForPermit(at: provider) }
        plan.moment = provider.map { context.health[$0.handle].breaker.moment } ?? 0
        // The previous renewal may have found a reason not to try.
        if let provider,
            let until = context.probe(provider, isClean: isClean)
        {
            permit.end(isUnused: true)
            return (.refused(refusal(by: provider, until: until)), nil)
        }
        var claimed = await writeIntent(demand, plan)
        if claimed == nil, let provider {
            // It sends after all.
            await waitForPermit(at: provider)
            claimed = await writeIntent(demand, plan)
        }
        let (event, attempt) = claimed ?? (.storeFailed, nil)
        // A claim that sends nothing does not block others.
        if attempt?.claim.method != .grant { permit.end(isUnused: true) }
        return (event, attempt)
    }

    private func openUntil(_ provider: StoredProvider, isClean: Bool) -> Timestamp? {
        context.health[provider.handle].breaker.openUntil(
            revision: provider.revision, now: vault.now, isClean: isClean)
    }

    private func refusal(by provider: StoredProvider, until: Timestamp) -> RenewalRefusal {
        context.health[provider.handle].breaker.isStopped
            ? .providerStopped(until: until) : .breakerOpen(until: until)
    }

    /// Waits for a permit to ask the provider, where its profile limits the rate.
    ///
    /// - Returns: False if nothing new may begin.
    @discardableResult
    func waitForPermit(at provider: StoredProvider) async -> Bool {
        guard let limits = provider.record.rateLimits else { return !vault.isClosing }
        let isGiven = await permit.begin(provider.handle, limits, demand.isForCaller ? .caller : .background)
        return isGiven && !vault.isClosing
    }

    /// Nil, and nothing is written, if the claim would send something and has no permit.
    private func writeIntent(
        _ demand: RenewalDemand, _ plan: Plan
    ) async -> (RenewalMachine.Event, RenewalAttempt?)? {
        let provider = plan.provider
        let now = vault.now
        let vault = vault
        let fences = fences
        let target = target
        let policy = provider.flatMap { try? ReplayPolicy($0.record) } ?? ReplayPolicy()
        let mayDecideToSend = permit.isHeld || provider?.record.rateLimits == nil
        let longestWay = Self.longestWayToRequest(givenBack: plan.givenBack)
        let circumstances = ClaimDecision.Circumstances(
            demand: demand, target: target, now: now, canUseProvider: provider != nil,
            hasHandler: context.handler != nil, asksSession: plan.asks, asked: plan.questionFence,
            replay: policy, hasOtherLogins: plan.hasOtherLogins, stalled: stalled.all,
            setBack: vault.clock.setBack, span: { vault.span(since: $0) }, isUnspent: { vault.isUnspent($0) },
            owner: { $0.fence == plan.abandoned ? vault.owner(of: $0) : .working })
        do {
            var claimed: (RenewalMachine.Event, RenewalAttempt?)? = try await vault.change(login) { state in
                let decision = ClaimDecision(state, circumstances)
                let isClosing = vault.isClosing
                if decision.endsQuestion || isClosing, plan.isAsked(under: state.intent) {
                    state.intent = nil
                    state.auditEvents.append(AuditEvent(.renewalFailed, [.cause(.withdrawn)]))
                }
                switch decision {
                case .satisfied: return (.satisfied, nil)
                case .refused(let refusal): return (.refused(refusal), nil)
                // The owner at work settles it.
                case .ownedElsewhere: return (demand.isForCaller ? .ownedElsewhere : .satisfied, nil)
                case .close:
                    state.auditEvents.append(AuditEvent(.renewalFailed, [.cause(.withdrawn)]))
                    state.intent = nil
                    state.session.doubtCause = nil
                    return (.satisfied, nil)
                case .giveUp:
                    state.die(.lostResponse, at: now)
                    return (.gaveUp, nil)
                case .proceed where isClosing: return (.closed, nil)
                case .proceed(.grant, _) where !mayDecideToSend: return nil
                case .proceed(let method, let doubt):
                    var claim = state.open(
                        method, doubt, owner: vault.store.owner, at: now,
                        isContinued: plan.isAsked(under: state.intent), isUnspent: { vault.isUnspent($0) })
                    claim.target = target
                    // Known as in progress before another process can read the intent.
                    vault.attemptStarted(claim.fence)
                    fences.insert(claim.fence)
                    let attempt = RenewalAttempt(
                        claim: claim, provider: method == .handler ? nil : provider, stored: ClaimedLogin(state),
                        policy: policy, claimedAt: .zero, longestWay: longestWay, moment: plan.moment)
                    return (.claimed(claim), attempt)
                }
            }
            claimed?.1?.claimedAt = vault.timeSource.uptime()
            return claimed
        } catch {
            return (Self.event(for: error), nil)
        }
    }

    /// The preparations for writing an intent.
    private struct Plan: Sendable {
        let provider: StoredProvider?
        /// The intent whose owner was gone before its spool was read. The spool of an owner that dies later has not
        /// been read: that owner counts as working again.
        let abandoned: Int64?
        let hasOtherLogins: Bool
        /// Whether the ``SessionHandler`` decides how to renew.
        let asks: Bool
        /// The fence of the intent under which it has been asked.
        let questionFence: Int64?
        let givenBack: Int
        var moment = 0

        func isAsked(under intent: IntentRecord?) -> Bool { questionFence != nil && intent?.fence == questionFence }
    }

    /// The event for a read or write that failed before anything was sent.
    private static func event(for error: any Error) -> RenewalMachine.Event {
        switch (error as? StoreError)?.code {
        case .notFound(.provider): .refused(.providerMissing)
        case .notFound: .refused(.loginMissing)
        case .full: .refused(.storageFull)
        case .readOnly: .refused(.readOnly(error as? StoreError))
        case .busy: .refused(.storeBusy(error as? StoreError))
        case .closed: .closed
        case .ownershipLost: .ownershipLost
        case .quarantined, .rollbackSuspected, .newerSchema, .moved:
            (error as? StoreError).map { .refused(.notBelieved($0)) } ?? .storeFailed
        default: .storeFailed
        }
    }
}

extension ProviderRecord {
    /// Nil: there is no limit.
    var rateLimits: ProviderLimiter.Limits? {
        guard let profile = try? profile else { return nil }
        let limits = profile.limits
        // Where a wrong secret looks like a dead login, only one login at a time finds out.
        let isAmbiguous = !profile.reply.bareDeadStatuses.isEmpty && !clientSecrets.isEmpty
        let concurrent = isAmbiguous ? 1 : limits.concurrentRequests
        guard concurrent != nil || limits.requestsPerMinute != nil else { return nil }
        return ProviderLimiter.Limits(concurrent: concurrent, perMinute: limits.requestsPerMinute)
    }
}

extension ClaimedLogin {
    fileprivate init(_ state: LoginState) {
        self.init(
            login: state.handle, user: state.user, userId: state.userId, session: state.session,
            refresh: state.refresh, key: state.key)
    }
}

extension LoginState {
    fileprivate mutating func open(
        _ method: RenewalClaim.Method, _ doubt: Doubt?, owner: Int64, at now: Timestamp, isContinued: Bool,
        isUnspent: (Int64) -> Bool
    ) -> RenewalClaim {
        if refresh?.mayTryPrevious(at: now) == false { refresh?.forgetPrevious() }
        let isOtherToken = doubt != nil && takeSuccessor(at: now)
        let tries = method == .session ? 0 : isOtherToken ? 1 : timesSent(isUnspent) + 1
        let fence = openIntent(owner: owner, at: now, doubtSince: doubt?.since, tries: tries).fence
        session.doubtCause = doubt?.cause.code
        if let doubt {
            auditEvents.append(AuditEvent(.intentTakenOver, [.cause(doubt.cause)]))
        } else if !isContinued {
            auditEvents.append(AuditEvent(.renewalStarted))
        }
        return RenewalClaim(
            position: position, fence: fence, method: method, isInDoubt: doubt != nil, doubtSince: doubt?.since,
            tries: tries)
    }
}
