import Logging
import OAuthClient
import Synchronization
import VaultStorage

extension SessionFeed {
    /// Rows at once: while they are told, new subscribers wait.
    private static let batch = 64

    /// Tells everything that there is to tell now. Gives how long there is nothing to do; nil when another task has taken
    /// over, or the vault is closed.
    func step(_ epoch: Int) -> Duration? {
        // Taken first: a row that was committed before a notice was posted is told before it.
        let notices = inbox.withLock { inbox in
            defer { inbox.notices = [] }
            return inbox.notices
        }
        do throws(StoreError) {
            while true {
                let isDone: Bool? = try state.withLock { state throws(StoreError) in
                    guard state.epoch == epoch else { return nil }
                    return try tellRows(&state)
                }
                guard let isDone else { return nil }
                if isDone { break }
            }
            return try state.withLock { state throws(StoreError) in
                guard state.epoch == epoch else { return nil }
                for notice in notices { tell(notice, &state) }
                let hasMore = try readWindow(&state)
                tell(state.book.tellDue(now), &state)
                return hasMore ? .zero : pause(state.book.nextDue)
            }
        } catch {
            guard error.code != .closed else { return nil }
            logger.debug("the audit trail could not be read for events", metadata: ["reason": "\(error.reason)"])
            return options.pollInterval
        }
    }

    /// Tells what there is to tell now, on the calling thread. False while nobody watches.
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

    /// The next rows. True if there are no more.
    private func tellRows(_ state: inout State) throws(StoreError) -> Bool {
        let entries = try store.auditEntries(after: state.cursor, limit: Self.batch)
        for entry in entries {
            if entry.sequence > state.cursor + 1 { try miss(Int(clamping: entry.sequence - state.cursor - 1), &state) }
            if entry.damage != nil {
                try miss(1, &state)
            } else if let row = SessionRow(entry) {
                try tell(row, &state)
            }
            state.cursor = entry.sequence
        }
        return entries.count < Self.batch
    }

    private func tell(_ row: SessionRow, _ state: inout State) throws(StoreError) {
        if row.fact == .created { welcome(row, &state) }
        guard state.window.isWatched || state.book.isWatched(row) else { return }
        let page = try page(for: row, &state)
        let horizon = state.window.isWatched ? now.advanced(by: FeedWindow.span) : nil
        tell(state.book.take(row, reading: page, now: now, horizon: horizon), &state)
    }

    /// A user whom somebody waits for has come.
    private func welcome(_ row: SessionRow, _ state: inout State) {
        let isAwaited = state.subscribers.values.contains { if case .user = $0.scope { true } else { false } }
        guard isAwaited, let name = name(of: row.user, &state) else { return }
        let key = UserKey(name)
        for (number, subscriber) in state.subscribers where subscriber.user != row.user {
            guard case .user(let id) = subscriber.scope, UserKey(id) == key else { continue }
            // Erased and come back, he has another handle.
            if let user = subscriber.user { state.book.unwatch(user: user) }
            state.book.watch(user: row.user)
            state.subscribers[number]?.user = row.user
        }
    }

    /// The login as it is now, where the row alone does not say enough.
    private func page(for row: SessionRow, _ state: inout State) throws(StoreError) -> SessionPage? {
        switch row.fact {
        case .created, .token(_, isNew: true, _):
            if let (stored, asOf) = try read(row.login) {
                let page = page(stored, asOf: asOf)
                guard row.fact != .created, state.book.pages[row.login] == nil else { return page }
                return SessionPage(row, userID: stored.userID).with(refreshOf: page)
                    .forAllLogins(obtainedAt: stored.session.obtainedAt)
            }
            guard row.fact != .created else { return nil }
        default: break
        }
        return state.book.pages[row.login] == nil
            ? SessionPage(row, userID: name(of: row.user, &state) ?? "") : nil
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

    func name(of user: UserHandle, _ state: inout State) -> String? {
        if let known = state.names[user] { return known }
        guard let name = try? store.userID(of: user) else { return nil }
        if state.names.count >= 4_096 { state.names = [:] }
        state.names[user] = name
        return name
    }

    /// Rows are missing or do not open: everybody is told, and what is watched is looked at anew.
    private func miss(_ count: Int, _ state: inout State) throws(StoreError) {
        for subscriber in state.subscribers.values {
            if case .events(let mailbox) = subscriber.sink { mailbox.miss(count) }
        }
        for login in Array(state.book.pages.keys) {
            if let (stored, asOf) = try read(login) {
                tell(state.book.replace(page(stored, asOf: asOf), now: now), &state)
            } else {
                tell(state.book.remove(login, now: now), &state)
            }
        }
    }

    /// Logins whose tokens run out soon, for who watches all of them. True if there are more.
    private func readWindow(_ state: inout State) throws(StoreError) -> Bool {
        guard state.window.isWatched, state.book.pages.count < FeedWindow.mostPages else { return false }
        let now = now
        let found = try store.dueLogins(
            before: now.advanced(by: FeedWindow.span), after: state.window.position(at: now),
            limit: FeedWindow.pageSize)
        for due in found.logins where state.book.pages[due.login] == nil {
            guard let (stored, asOf) = try read(due.login) else { continue }
            var page = page(stored, asOf: asOf).forAllLogins(obtainedAt: stored.session.obtainedAt)
            guard let expiresAt = page.expiresAt, expiresAt > state.window.since else { continue }
            page.hasWarnedOfRefresh = true
            state.book.watch(page, now: now)
        }
        state.window.advance(to: found.end)
        return found.logins.count == FeedWindow.pageSize
    }
}
