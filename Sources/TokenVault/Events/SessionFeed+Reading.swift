import Logging
import OAuthClient
import Synchronization
import VaultStorage

extension SessionFeed {
    /// Rows at once: while they are told, new subscribers wait.
    private static let batch = 64

    /// Tells everything that there is to tell now. Gives how long there is nothing to do; nil when another task has
    /// taken over, or the vault is closed.
    ///
    /// The vault is read without the lock on what the feed knows, which is taken for each row anew: a new subscriber
    /// does not wait for SQLite.
    func step(_ epoch: Int) -> Duration? {
        // Taken first: a row that was committed before a notice was posted is told before it.
        let notices = inbox.withLock { inbox in
            defer { inbox.notices = [] }
            return inbox.notices
        }
        do throws(StoreError) {
            while let isDone = try tellRows(epoch) {
                guard isDone else { continue }
                for notice in notices { try tell(notice, epoch) }
                let hasMore = try readWindow(epoch)
                return state.withLock { state in
                    guard state.epoch == epoch else { return nil }
                    tell(state.book.tellDue(now), &state)
                    return hasMore ? .zero : pause(state.book.nextDue)
                }
            }
            return nil
        } catch {
            guard error.code != .closed else { return nil }
            logger.debug("the audit trail could not be read for events", metadata: ["reason": "\(error.reason)"])
            return options.pollInterval
        }
    }

    /// Tells what there is to tell now, on the calling thread. False without subscribers.
    @discardableResult
    func catchUp() -> Bool {
        guard let epoch = state.withLock({ $0.subscribers.isEmpty ? nil : $0.epoch }) else { return false }
        while step(epoch) == .zero {}
        return true
    }

    private func pause(_ nextDue: Timestamp?) -> Duration {
        guard let nextDue else { return options.pollInterval }
        return min(options.pollInterval, max(.milliseconds(1), nextDue.since(now)))
    }

    /// The next rows. True if there are no more; nil if another task has taken over.
    private func tellRows(_ epoch: Int) throws(StoreError) -> Bool? {
        guard let cursor = state.withLock({ $0.epoch == epoch ? $0.cursor : nil }) else { return nil }
        let entries = try store.auditEntries(after: cursor, limit: Self.batch)
        var position = cursor
        for entry in entries {
            switch try tell(entry, after: position, epoch) {
            case .told: position = entry.sequence
            // Another task has reported it: go on from there.
            case .overtaken: return false
            case .over: return nil
            }
        }
        return entries.count < Self.batch
    }

    private enum Outcome {
        case told, overtaken, over
    }

    private enum Step {
        case done(Outcome)
        case needs(RowNeeds)
    }

    /// Tells one row, as soon as everything has been read that it needs. What it needs may grow while it is read: a
    /// subscriber may have come.
    private func tell(_ entry: AuditEntry, after position: Int64, _ epoch: Int) throws(StoreError) -> Outcome {
        var reading = RowReading()
        while true {
            let step = state.withLock { state -> Step in
                guard state.epoch == epoch else { return .done(.over) }
                guard state.cursor == position else { return .done(.overtaken) }
                let needs = needs(of: entry, after: position, state).subtracting(reading)
                guard needs.isEmpty else { return .needs(needs) }
                tell(entry, after: position, reading, &state)
                state.cursor = entry.sequence
                return .done(.told)
            }
            switch step {
            case .done(let outcome): return outcome
            case .needs(let needs): try read(needs, into: &reading)
            }
        }
    }

    private func needs(of entry: AuditEntry, after position: Int64, _ state: State) -> RowNeeds {
        var needs = RowNeeds()
        let isWhole = entry.sequence <= position + 1 && entry.damage == nil
        if !isWhole { needs.logins.formUnion(state.book.pages.keys) }
        guard entry.damage == nil, let row = SessionRow(entry) else { return needs }
        let isWatched = state.window.isWatched || state.book.isWatched(row)
        switch row.fact {
        case .created:
            if state.hasWatchersOfUsers { needs.users.insert(row.user) }
            if isWatched || state.hasWatchersOfUsers { needs.logins.insert(row.login) }
        case .token(_, isNew: true, _): if isWatched { needs.logins.insert(row.login) }
        default: break
        }
        if isWatched, state.book.pages[row.login] == nil { needs.users.insert(row.user) }
        needs.users.subtract(state.names.keys)
        return needs
    }

    private func tell(_ entry: AuditEntry, after position: Int64, _ reading: RowReading, _ state: inout State) {
        if state.names.count >= 4_096 { state.names = [:] }
        for case (let user, let name?) in reading.names { state.names[user] = name }
        if entry.sequence > position + 1 { miss(Int(clamping: entry.sequence - position - 1), reading, &state) }
        if entry.damage != nil {
            miss(1, reading, &state)
        } else if let row = SessionRow(entry) {
            if row.fact == .created { welcome(row, &state) }
            guard state.window.isWatched || state.book.isWatched(row) else { return }
            let page = page(for: row, reading, state)
            let horizon = state.window.isWatched ? now.advanced(by: FeedWindow.span) : nil
            tell(state.book.take(row, reading: page, now: now, horizon: horizon), &state)
            let missed = state.book.takeTurnedAway()
            guard missed > 0 else { return }
            for number in state.index.ofAll {
                if case .events(let mailbox)? = state.subscribers[number]?.sink { mailbox.miss(missed) }
            }
        }
    }

    /// A user that a subscriber waits for was added.
    private func welcome(_ row: SessionRow, _ state: inout State) {
        guard state.index.hasNames, let name = state.names[row.user] else { return }
        for number in state.index.numbers(UserKey(name)) {
            guard let subscriber = state.subscribers[number], subscriber.user != row.user else { continue }
            // Erased and come back, he has another handle.
            if let user = subscriber.user { state.book.unwatch(user: user, isAllWatched: state.window.isWatched) }
            state.book.watch(user: row.user)
            state.index.move(number, from: subscriber.user, to: row.user)
            state.subscribers[number]?.user = row.user
        }
    }

    /// The login as it is now, where the row alone does not say enough.
    private func page(for row: SessionRow, _ reading: RowReading, _ state: State) -> SessionPage? {
        switch row.fact {
        case .created, .token(_, isNew: true, _):
            if let found = reading.logins[row.login] ?? nil {
                guard row.fact != .created, state.book.pages[row.login] == nil else { return found.page }
                return SessionPage(row, userID: found.page.userID).with(refreshOf: found.page)
                    .forAllLogins(obtainedAt: found.obtainedAt)
            }
            guard row.fact != .created else { return nil }
        default: break
        }
        return state.book.pages[row.login] == nil ? SessionPage(row, userID: state.names[row.user] ?? "") : nil
    }

    private func read(_ needs: RowNeeds, into reading: inout RowReading) throws(StoreError) {
        for user in needs.users { reading.names.updateValue(try? store.userID(of: user), forKey: user) }
        for login in needs.logins { reading.logins.updateValue(try readLogin(login), forKey: login) }
    }

    private func readLogin(_ login: LoginHandle) throws(StoreError) -> LoginReading? {
        guard let (stored, asOf) = try read(login) else { return nil }
        return LoginReading(page: page(stored, asOf: asOf), obtainedAt: stored.session.obtainedAt)
    }

    /// A login and the last audit row that is in it; nil if it is gone, or cannot be opened.
    func read(_ login: LoginHandle) throws(StoreError) -> (stored: StoredLogin, asOf: Int64)? {
        var head = try store.auditHead()
        for _ in 0..<4 {
            let stored: StoredLogin
            do throws(StoreError) {
                stored = try store.login(login)
            } catch {
                if error.code == .closed { throw error }
                return nil
            }
            let after = try store.auditHead()
            if after == head { return (stored, head) }
            head = after
        }
        // Written to all the time: what is told twice of a state changes nothing.
        return try? (store.login(login), head)
    }

    func page(_ stored: StoredLogin, asOf: Int64) -> SessionPage {
        // The first chain began with the login; when a later one did is not stored.
        let provider = stored.position.chain == 1 ? stored.provider : nil
        let lifetime = provider.flatMap { try? store.provider($0).record.profile.refresh.absoluteLifetime }
        let grantEndsAt = lifetime.map { stored.session.createdAt.advanced(by: $0) }
        return SessionPage(stored, grantEndsAt: grantEndsAt, asOf: asOf, options, now: now)
    }

    /// Rows are missing or do not open: every subscriber is told, and what is watched is looked at anew.
    private func miss(_ count: Int, _ reading: RowReading, _ state: inout State) {
        for subscriber in state.subscribers.values {
            if case .events(let mailbox) = subscriber.sink { mailbox.miss(count) }
        }
        for login in Array(state.book.pages.keys) {
            if let found = reading.logins[login] ?? nil {
                tell(state.book.replace(found.page, now: now), &state)
            } else {
                tell(state.book.remove(login, now: now), &state)
            }
        }
    }

    private func tell(_ notice: SessionNotice, _ epoch: Int) throws(StoreError) {
        var found: LoginReading?
        if case .unusableToken(let login, _) = notice, state.withLock({ $0.book.pages[login] == nil }) {
            found = try readLogin(login)
        }
        state.withLock { state in
            if state.epoch == epoch { tell(notice, found?.page, &state) }
        }
    }

    /// Logins whose tokens run out soon, for who watches all of them. True if there are more.
    private func readWindow(_ epoch: Int) throws(StoreError) -> Bool {
        let now = now
        let start = state.withLock { state -> (position: DueCursor?, since: Timestamp)? in
            guard state.epoch == epoch, state.window.isWatched, state.book.hasRoom else {
                return nil
            }
            return (state.window.position(at: now), state.window.since)
        }
        guard let start else { return false }
        let found = try store.dueLogins(
            before: now.advanced(by: FeedWindow.span), after: start.position, limit: FeedWindow.pageSize)
        var pages: [SessionPage] = []
        for due in found.logins {
            guard let read = try readLogin(due.login) else { continue }
            var page = read.page.forAllLogins(obtainedAt: read.obtainedAt)
            guard let expiresAt = page.expiresAt, expiresAt > start.since else { continue }
            page.hasWarnedOfRefresh = true
            pages.append(page)
        }
        return state.withLock { state in
            // What another task has reported since is not in these pages: they are read again.
            guard state.epoch == epoch, state.window.isWatched, state.window.position(at: now) == start.position,
                pages.allSatisfy({ $0.asOf >= state.cursor })
            else { return state.epoch == epoch && state.window.isWatched }
            for page in pages { state.book.watch(page, now: now) }
            state.window.advance(to: found.end)
            return found.logins.count == FeedWindow.pageSize
        }
    }
}

/// A login as it was read, and when its token came.
private struct LoginReading {
    let page: SessionPage
    let obtainedAt: Timestamp
}

/// What a row is reported with.
private struct RowReading {
    /// Nil: there is none, or it cannot be opened.
    var logins: [LoginHandle: LoginReading?] = [:]
    var names: [UserHandle: String?] = [:]
}

/// What must be read from the vault before a row can be reported.
private struct RowNeeds {
    var logins: Set<LoginHandle> = []
    var users: Set<UserHandle> = []

    var isEmpty: Bool { logins.isEmpty && users.isEmpty }

    func subtracting(_ reading: RowReading) -> RowNeeds {
        RowNeeds(logins: logins.subtracting(reading.logins.keys), users: users.subtracting(reading.names.keys))
    }
}

extension SessionFeed.State {
    fileprivate var hasWatchersOfUsers: Bool {
        subscribers.values.contains { if case .user = $0.scope { true } else { false } }
    }
}
