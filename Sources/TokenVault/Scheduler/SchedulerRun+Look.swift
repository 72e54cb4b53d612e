import Synchronization
import VaultStorage

extension SchedulerRun {
    /// Rows of one page of the index.
    private static let page = 256
    /// Rows visited in one check: more wait for the next one.
    private static let mostRows = 4_096
    /// After this many rows without a result, the index is left alone for ``shortPause``.
    private static let manyRows = 512
    private static let shortPause = Duration.milliseconds(250)
    /// Logins of one provider among which one is chosen to probe.
    private static let mostProbes = 64

    /// Finds out what may start now, and how long to wait if nothing happens meanwhile.
    func look() async -> Plan {
        vault.checkClock()
        let (now, uptime) = (vault.now, vault.timeSource.uptime())
        sweepIfSetBack(now)
        var places = options.concurrency - state.withLock { $0.inFlight.count }
        context.metrics.set(.flights, to: Double(options.concurrency - places))
        var plan = Plan(pause: options.longestPause)
        let wait = state.withLock { state in
            state.forgetRests(before: uptime)
            if state.waitsForVault(uptime: uptime) { plan.pause = min(plan.pause, SchedulerState.trialInterval) }
            return state.noLookBefore - uptime
        }
        guard places > 0, wait <= .zero else {
            if places > 0 { plan.pause = wait }
            plan.isUnfinished = true
            return plan
        }
        await noticeDecisions(&plan)
        await noticeRegistrations(&plan)
        var rooms = Rooms()
        await checkIndex(now, uptime, &places, &rooms, &plan)
        await checkBehindClock(uptime, &places, &rooms, &plan)
        state.withLock { state in
            for candidate in plan.start { state.begin(candidate) }
        }
        return plan
    }

    private func checkIndex(
        _ now: Timestamp, _ uptime: Duration, _ places: inout Int, _ rooms: inout Rooms, _ plan: inout Plan
    ) async {
        var cursor = state.withLock { $0.cursor }
        var rows = 0
        var longestDue: Timestamp?
        repeat {
            guard let page = try? await vault.store.dueLogins(before: now, after: cursor, limit: Self.page) else {
                plan.pause = min(plan.pause, .seconds(1))
                return
            }
            if let next = page.nextDueAt { plan.pause = min(plan.pause, next.since(now)) }
            // Several processes read the same page: each begins at another row.
            for due in await probesFirst(shuffled(page.logins), now, uptime) {
                guard await passes(due, uptime, &rooms, &plan) else { continue }
                longestDue = min(longestDue ?? due.dueAt, due.dueAt)
                guard places > 0 else {
                    plan.isUnfinished = true
                    continue
                }
                begin(due, &places, &rooms, &plan)
            }
            rows += page.logins.count
            cursor = page.cursor
        } while cursor != nil && places > 0 && rows < Self.mostRows
        context.metrics.set(.lag, to: longestDue.map { max(0, now.since($0) / .seconds(1)) } ?? 0)
        let (next, isFruitless) = (places > 0 ? cursor : nil, plan.start.isEmpty && rows >= Self.manyRows)
        state.withLock { state in
            state.cursor = next
            if isFruitless { state.noLookBefore = uptime + Self.shortPause }
        }
        guard next != nil else { return }
        plan.isUnfinished = true
        plan.pause = min(plan.pause, Self.shortPause)
    }

    /// Whether this login may be examined now.
    private func passes(_ due: DueLogin, _ uptime: Duration, _ rooms: inout Rooms, _ plan: inout Plan) async -> Bool {
        let rest = state.withLock { state in
            state.inFlight.contains(due.login) ? Duration.zero : state.rest(due.login, uptime: uptime)
        }
        if let rest {
            if rest > .zero { plan.pause = min(plan.pause, rest) }
            return false
        }
        guard let provider = due.provider else { return true }
        let room = await rooms.room(at: provider) { await self.room(at: provider, uptime) }
        guard room.count <= 0 else { return true }
        plan.waitsForRoom = true
        if let after = room.lookAgainAfter {
            plan.pause = min(plan.pause, after)
            if room.isRate { plan.isUnfinished = true }
        }
        return false
    }

    private func begin(_ due: DueLogin, _ places: inout Int, _ rooms: inout Rooms, _ plan: inout Plan) {
        if let provider = due.provider {
            // Recovery may have taken the last slot since.
            guard context.health.change(provider, { $0.pace.begin() }) else { return }
            rooms.take(provider)
        }
        places -= 1
        plan.start.append(Candidate(login: due.login, provider: due.provider))
    }

    /// Where a provider lets one login at a time probe whether it renews again, that is the most recently renewed one,
    /// of those that were not refused since. The provider's others are left out of this check.
    private func probesFirst(_ logins: [DueLogin], _ now: Timestamp, _ uptime: Duration) async -> [DueLogin] {
        let probed = Set(logins.compactMap(\.provider)).filter { context.health[$0].breaker.isHalfOpen(now: now) }
        guard !probed.isEmpty else { return logins }
        var best: [ProviderHandle: (due: DueLogin, isClean: Bool, renewedAt: Timestamp)] = [:]
        var looks: [ProviderHandle: Int] = [:]
        for due in logins {
            guard let provider = due.provider, probed.contains(provider), looks[provider, default: 0] < Self.mostProbes,
                state.withLock({ !$0.inFlight.contains(due.login) && $0.rest(due.login, uptime: uptime) == nil }),
                let session = try? await vault.store.login(due.login).session
            else { continue }
            looks[provider, default: 0] += 1
            let (rank, renewedAt) = (session.isClean ? 1 : 0, session.obtainedAt)
            let isBetter = best[provider].map { ($0.isClean ? 1 : 0, $0.renewedAt) < (rank, renewedAt) }
            if isBetter ?? true { best[provider] = (due, session.isClean, session.obtainedAt) }
        }
        return best.values.map(\.due) + logins.filter { due in due.provider.map { !probed.contains($0) } ?? true }
    }

    private func shuffled(_ logins: [DueLogin]) -> [DueLogin] {
        var logins = logins
        for index in logins.indices.reversed() where index > 0 {
            let other = min(index, max(0, Int(context.random() * Double(index + 1))))
            logins.swapAt(index, other)
        }
        return logins
    }

    // MARK: After the clock was set back

    /// Rows that were written by a clock that was ahead are due in a future that may be years away.
    private func sweepIfSetBack(_ now: Timestamp) {
        let setBack = vault.clock.setBack
        state.withLock { state in
            guard setBack != state.seenSetBack else { return }
            state.seenSetBack = setBack
            guard let setBack, setBack.by >= TokenClassifier.mostSkew else { return }
            let end = now.advanced(by: setBack.by + RenewalRefusal.longestPostponement)
            state.sweep = .init(
                cursor: DueCursor(dueAt: now, row: .max), end: max(end, state.sweep?.end ?? end))
        }
    }

    private func checkBehindClock(
        _ uptime: Duration, _ places: inout Int, _ rooms: inout Rooms, _ plan: inout Plan
    ) async {
        guard places > 0, var sweep = state.withLock({ $0.sweep }) else { return }
        if sweep.pending.isEmpty, let cursor = sweep.cursor {
            guard let page = try? await vault.store.dueLogins(before: sweep.end, after: cursor, limit: Self.page) else {
                return
            }
            (sweep.pending, sweep.cursor) = (page.logins, page.cursor)
        }
        var kept: [DueLogin] = []
        for due in sweep.pending {
            guard places > 0, await passes(due, uptime, &rooms, &plan) else {
                kept.append(due)
                continue
            }
            begin(due, &places, &rooms, &plan)
        }
        sweep.pending = kept
        let isOver = kept.isEmpty && sweep.cursor == nil
        state.withLock { [sweep] in $0.sweep = isOver ? nil : sweep }
        guard !isOver else { return }
        plan.isUnfinished = true
        if kept.isEmpty { plan.pause = min(plan.pause, Self.shortPause) }
    }
}
