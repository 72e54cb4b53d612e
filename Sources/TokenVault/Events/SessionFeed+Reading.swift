import Logging
import Synchronization
import VaultStorage

extension SessionFeed {
    /// Rows per step: while they are reported, new subscribers wait.
    private static let batch = 64

    /// Reports everything that there is to report now. Returns how long there is nothing to do; nil if another task has
    /// taken over, or the vault is closed.
    ///
    /// Reads the vault without the lock on the feed's state, and takes the lock for each row separately: a new
    /// subscriber does not wait for the disk.
    func step(_ epoch: Int) async -> Duration? {
        // Taken first: a row that was committed before a notice was posted is reported before it.
        let notices = inbox.withLock { inbox in
            defer { inbox.notices = [] }
            return inbox.notices
        }
        do throws(StoreError) {
            while let isDone = try await reportRows(epoch) {
                guard isDone else { continue }
                for notice in notices { try await report(notice, epoch) }
                let hasMore = try await readWindow(epoch)
                return state.withLock { state in
                    guard state.epoch == epoch else { return nil }
                    deliver(state.watched.reportDue(now), &state)
                    return hasMore ? .zero : pause(state.watched.nextDue)
                }
            }
            return nil
        } catch {
            guard error.code != .closed else { return nil }
            logger.debug("the audit trail could not be read for events", metadata: ["reason": "\(error.message)"])
            return options.pollInterval
        }
    }

    /// Reports everything there is now, on the calling thread. False without subscribers.
    @discardableResult
    func catchUp() async -> Bool {
        guard let epoch = state.withLock({ $0.subscribers.isEmpty ? nil : $0.epoch }) else { return false }
        while await step(epoch) == .zero {}
        return true
    }

    private func pause(_ nextDue: Timestamp?) -> Duration {
        guard let nextDue else { return options.pollInterval }
        return min(options.pollInterval, max(.milliseconds(1), nextDue.since(now)))
    }

    // MARK: Rows

    /// The next rows. True if there are no more; nil if another task has taken over.
    private func reportRows(_ epoch: Int) async throws(StoreError) -> Bool? {
        guard let (cursor, link) = state.withLock({ $0.epoch == epoch ? ($0.cursor, $0.link) : nil }) else {
            return nil
        }
        // The row that was reported last is included: it shows whether this is still the same trail.
        var entries = try await store.auditEntries(after: cursor - 1, limit: Self.batch + 1)
        if let last = entries.first, last.sequence == cursor {
            if let link, link != last.link { return try await reportOtherTrail(after: cursor, epoch) }
            state.withLock { if $0.epoch == epoch, $0.cursor == cursor { $0.link = last.link } }
            entries.removeFirst()
        } else if cursor > 0, try await store.trailPruning().through < cursor {
            return try await reportOtherTrail(after: cursor, epoch)
        }
        entries = Array(entries.prefix(Self.batch))
        var position = cursor
        for entry in entries {
            switch try await report(entry, after: position, epoch) {
            case .reported: position = entry.sequence
            // Another task has reported it: continue from there.
            case .overtaken: return false
            case .over: return nil
            }
        }
        return entries.count < Self.batch
    }

    private enum Outcome {
        case reported, overtaken, over
    }

    private enum Step {
        case done(Outcome)
        case needs(RowNeeds)
    }

    /// Changes the state at a position, which the change moves, once everything that it needs has been read. Its needs
    /// may grow in the meantime: a subscriber may have come.
    private func advance(
        from position: Int64, _ epoch: Int, needing needs: (State) -> RowNeeds,
        _ change: (RowNeeds.Found, inout State) -> Void
    ) async throws(StoreError) -> Outcome {
        var found = RowNeeds.Found()
        while true {
            let step = state.withLock { state -> Step in
                guard state.epoch == epoch else { return .done(.over) }
                guard state.cursor == position else { return .done(.overtaken) }
                let needs = needs(state).subtracting(found)
                guard needs.isEmpty else { return .needs(needs) }
                state.remember(found, options)
                change(found, &state)
                return .done(.reported)
            }
            switch step {
            case .done(let outcome): return outcome
            case .needs(let needs): try await read(needs, into: &found)
            }
        }
    }

    /// Reports one row.
    private func report(_ entry: AuditEntry, after position: Int64, _ epoch: Int) async throws(StoreError) -> Outcome {
        let row = entry.damage == nil ? SessionRow(entry) : nil
        let isWhole = entry.damage == nil && entry.sequence <= position + 1
        return try await advance(
            from: position, epoch, needing: { RowNeeds(row, isWhole: isWhole, $0) }
        ) { found, state in
            if !isWhole {
                miss(Int(clamping: entry.sequence - position - (entry.damage == nil ? 1 : 0)), found, &state)
            }
            if let provider = entry.provider { state.lifetimes[provider] = nil }
            if let row { report(row, &state) }
            if let event = entry.providerEvent { state.subscribers.deliver(event, of: entry.sequence) }
            (state.cursor, state.link) = (entry.sequence, entry.link)
        }
    }

    /// A failover or a restore has removed rows that were reported. Reports resume at the row that records it. Returns
    /// false, as there is more to report; nil if another task has taken over.
    private func reportOtherTrail(after position: Int64, _ epoch: Int) async throws(StoreError) -> Bool? {
        let begin = try await store.beginOfTrail()
        let outcome = try await advance(
            from: position, epoch, needing: { RowNeeds(nil, isWhole: false, $0) }
        ) { found, state in
            miss(1, found, &state)
            (state.cursor, state.link) = (begin.sequence, begin.link)
        }
        return outcome == .over ? nil : false
    }

    private func report(_ row: SessionRow, _ state: inout State) {
        if row.isFirst { welcome(row, &state) }
        guard state.window.isWatched || state.watched.contains(row) else { return }
        let lifetime = row.look?.grant.flatMap { state.lifetimes[$0.provider] }
        let end = row.look.flatMap { RefreshEnd($0, lifetime, obtainedAt: row.time, options) }
        let horizon = state.window.isWatched ? now.advanced(by: FeedWindow.span) : nil
        let events = state.watched.take(row, userId: state.names[row.user] ?? "", end, horizon: horizon)
        deliver(events, &state)
    }

    /// A user was added for whom subscribers wait.
    private func welcome(_ row: SessionRow, _ state: inout State) {
        // The name of a login that is watched already, by who has subscribed since, is not read again.
        guard state.subscribers.hasNames,
            let name = state.watched[row.login]?.knownUserId ?? state.names[row.user]
        else { return }
        for earlier in state.subscribers.meet(row.user, named: name) {
            if let earlier { state.watched.unname(earlier, isAllWatched: state.window.isWatched) }
            state.watched.name(row.user)
        }
    }

    private func read(_ needs: RowNeeds, into found: inout RowNeeds.Found) async throws(StoreError) {
        for user in needs.users { found.names.updateValue(try await name(of: user), forKey: user) }
        for provider in needs.providers {
            found.lifetimes.updateValue(try await grantLifetime(provider), forKey: provider)
        }
        var lifetimes: [ProviderHandle: GrantLifetime] = [:]
        for login in needs.logins { found.logins.updateValue(try await read(login, &lifetimes), forKey: login) }
    }

    /// Rows are missing or unreadable: notifies every subscriber, and replaces the watched logins.
    private func miss(_ count: Int, _ found: RowNeeds.Found, _ state: inout State) {
        state.subscribers.miss(count)
        for login in Array(state.watched.handles) {
            deliver(state.watched.replace(login, with: found.logins[login] ?? nil, now: now), &state)
        }
    }

    // MARK: Delivery

    func deliver(_ events: [FeedEvent], _ state: inout State) {
        var users: Set<UserKey> = []
        for event in events {
            state.subscribers.deliver(event)
            guard case .stateChanged = event.event.kind, state.subscribers.hasNames else { continue }
            users.insert(UserKey(event.userId))
        }
        for user in users { deliverState(of: user, &state) }
        let missed = state.watched.takeTurnedAway()
        if missed > 0 { state.subscribers.missOfAll(missed) }
    }

    private func deliverState(of user: UserKey, _ state: inout State) {
        let (watched, isLoggingIn) = (state.watched, state.logIns[user] != nil)
        state.subscribers.deliver(stateOf: user) { handle in
            SessionState.of(userWith: handle.map { watched.states(ofUser: $0) } ?? [], isLoggingIn: isLoggingIn)
        }
    }

    // MARK: Notices

    private func report(_ notice: SessionNotice, _ epoch: Int) async throws(StoreError) {
        var found: WatchedLogin?
        if case .unusableToken(let login, _) = notice, state.withLock({ $0.watched[login] == nil }) {
            var lifetimes: [ProviderHandle: GrantLifetime] = [:]
            found = try await read(login, &lifetimes)
        }
        state.withLock { state in
            guard state.epoch == epoch else { return }
            switch notice {
            case .logIns(let user, let count):
                state.logIns[user] = count > 0 ? count : nil
                deliverState(of: user, &state)
            case .unusableToken(let login, let code):
                guard let known = state.watched[login] ?? found else { return }
                let event = known.event(.error(code), at: now)
                deliver(
                    [FeedEvent(event: event, login: login, user: known.user, userId: known.userId, sequence: nil)],
                    &state)
            }
        }
    }

    // MARK: Window

    /// Reads logins whose tokens expire soon, for subscribers to all logins. True if there are more.
    private func readWindow(_ epoch: Int) async throws(StoreError) -> Bool {
        let now = now
        let start = state.withLock { state -> (position: DueCursor?, since: Timestamp)? in
            guard state.epoch == epoch, state.window.isWatched, state.watched.hasRoom else { return nil }
            return (state.window.position(at: now), state.window.since)
        }
        guard let start else { return false }
        let due = try await store.dueLogins(
            before: now.advanced(by: FeedWindow.span), after: start.position, limit: FeedWindow.pageSize)
        var lifetimes: [ProviderHandle: GrantLifetime] = [:]
        var read: [WatchedLogin] = []
        for login in due.logins {
            guard let login = try await self.read(login.login, &lifetimes), let end = login.token?.expiresAt,
                end > start.since
            else { continue }
            read.append(login.withoutWarning)
        }
        return state.withLock { state in
            // These logins lack the events that another task has reported since: they are read again.
            guard state.epoch == epoch, state.window.isWatched, state.window.position(at: now) == start.position,
                read.allSatisfy({ $0.asOf >= state.cursor })
            else { return state.epoch == epoch && state.window.isWatched }
            for login in read { state.watched.watch(login) }
            state.window.advance(to: due.end)
            return due.logins.count == FeedWindow.pageSize
        }
    }
}

/// Data to read from the vault before a row can be reported: nothing of the login itself, unless rows are missing.
private struct RowNeeds {
    var logins: Set<LoginHandle> = []
    var users: Set<UserHandle> = []
    var providers: Set<ProviderHandle> = []

    /// The data that was read. Nil: it does not exist, or cannot be read.
    struct Found {
        var logins: [LoginHandle: WatchedLogin?] = [:]
        var names: [UserHandle: String?] = [:]
        var lifetimes: [ProviderHandle: GrantLifetime?] = [:]
    }

    var isEmpty: Bool { logins.isEmpty && users.isEmpty && providers.isEmpty }

    init(_ row: SessionRow?, isWhole: Bool, _ state: SessionFeed.State) {
        if !isWhole { logins = Set(state.watched.handles) }
        guard let row else { return }
        let isWatched = state.window.isWatched || state.watched.contains(row)
        let isAwaited = row.isFirst && state.subscribers.hasNames
        guard isWatched || isAwaited else { return }
        if state.watched[row.login] == nil, state.names[row.user] == nil { users = [row.user] }
        if let provider = row.look?.grant?.provider, state.lifetimes[provider] == nil { providers = [provider] }
    }

    func subtracting(_ found: Found) -> RowNeeds {
        var needs = self
        needs.logins.subtract(found.logins.keys)
        needs.users.subtract(found.names.keys)
        needs.providers.subtract(found.lifetimes.keys)
        return needs
    }
}

extension SessionFeed.State {
    fileprivate mutating func remember(_ found: RowNeeds.Found, _ options: SessionEventOptions) {
        for (user, name) in found.names {
            if names.count >= options.mostNames { names = [:] }
            names[user] = name
        }
        // A provider that could not be read may be readable next time.
        for case (let provider, let lifetime?) in found.lifetimes { lifetimes[provider] = lifetime }
    }
}
