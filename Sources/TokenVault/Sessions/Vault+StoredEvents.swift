import VaultCrypto
import VaultStorage

extension UserManager {
    /// What has happened since a place that you have kept, and then what happens: for those who must hear of each death,
    /// each need for a user and each recovery, also over restarts.
    ///
    /// ```swift
    /// for try await event in users.events(after: saved ?? .start) {
    ///     switch event.kind {
    ///     case .refreshFailed, .error(.needsUserInteraction): await mail.askToLogInAgain(event.userId ?? "")
    ///     case .recovered: await mail.withdraw(event.userId ?? "")
    ///     case .missed: lookAgain()
    ///     default: break
    ///     }
    ///     if let cursor = event.cursor { try await save(cursor) }
    /// }
    /// ```
    ///
    /// Events come from the audit trail, in its order, from all processes. Save ``SessionEvent/cursor`` after the event has
    /// been dealt with: what was not saved comes again, so each event comes **at least once**. What the passing of time
    /// brings (``SessionEvent/Kind/willExpire(at:)`` and ``SessionEvent/Kind/expired``) stands in no trail, and is not among
    /// them but where a row shows it.
    ///
    /// ``SessionEvent/Kind/missed(count:)`` comes first if rows after the cursor were pruned, or if the vault was restored
    /// to an earlier state: then look at the logins anew.
    ///
    /// - Parameters:
    ///   - cursor: Everything up to it has been dealt with. ``EventCursor/start``: all that the vault still has.
    ///   - session: Only events of this login or user; nil: of all.
    public func events(
        after cursor: EventCursor, of session: SessionRef? = nil
    ) -> some AsyncSequence<SessionEvent, any Error> & Sendable {
        StoredEvents(vault: vault, session: session, cursor: cursor, scope: names)
    }
}

extension Vault {
    /// A page of what has happened since a place that you have kept: for programs that look now and then. See
    /// ``UserManager/events(after:of:)``.
    ///
    /// - Parameters:
    ///   - cursor: Everything up to it has been dealt with.
    ///   - session: Only events of this login or user; nil: of all.
    ///   - limit: How many rows of the trail are read at most: 1 to 10 000.
    package func storedEvents(
        after cursor: EventCursor, of session: SessionRef? = nil, limit: Int = 256, in scope: TenantScope = .whole
    ) async throws -> StoredEventPage {
        try requireOpen()
        return try await VaultError.translating {
            let (start, missed) = try await self.start(after: cursor)
            let page = try await store.audit(AuditFilter(), .after(start.sequence), limit: min(max(1, limit), 10_000))
            let wanted = try await rows(of: scope.feed(session))
            var (events, position) = (missed.map { [$0] } ?? [], start)
            var names: [UserHandle: String] = [:]
            for listing in page.rows {
                let next = EventCursor(listing.entry.sequence, listing.link)
                var told = try await self.events(of: listing.entry, wanted, &names)
                for index in told.indices { told[index].cursor = index == told.count - 1 ? next : position }
                events += told.compactMap { scope.plain($0) }
                position = next
            }
            return StoredEventPage(events: events, cursor: position, isLast: page.next == nil)
        }
    }

    /// Tells one after the other what has happened since a place, up to what happened last, and where to go on after each.
    /// What throws ends it; the place that was saved last is where to begin again.
    package func deliverStoredEvents(
        after cursor: EventCursor, of session: SessionRef? = nil, to observe: (SessionEvent) async throws -> Void,
        save: (EventCursor) async throws -> Void
    ) async throws {
        var cursor = cursor
        while true {
            try Task.checkCancellation()
            let page = try await storedEvents(after: cursor, of: session)
            for event in page.events {
                try await observe(event)
                if let next = event.cursor, next != cursor {
                    cursor = next
                    try await save(next)
                }
            }
            // Rows that tell no event are behind it, too: the place must not be pruned meanwhile.
            if page.cursor != cursor {
                cursor = page.cursor
                try await save(cursor)
            }
            if page.isLast { return }
        }
    }

    /// The place behind which everything is still to come: for who wants only what is new.
    package func eventHead() async throws -> EventCursor {
        try await VaultError.translating {
            let head = try await store.auditHead()
            return EventCursor(head, try await store.auditPosition(head)?.link)
        }
    }

    /// Until it is worth while to look again.
    func waitForRows() async throws { try await timeSource.sleep(for: sessions.options.pollInterval) }

    /// Where the reading really begins, and what is to be said of that.
    private func start(after cursor: EventCursor) async throws -> (EventCursor, SessionEvent?) {
        guard cursor != .start else { return (cursor, nil) }
        let (head, pruned) = (try await store.auditHead(), try await store.trailPruning().through)
        if let link = try await store.auditPosition(cursor.sequence)?.link, cursor.sequence <= head {
            let isSame = cursor.mark.isEmpty || cursor.mark == EventCursor.mark(of: link)
            if isSame { return (cursor, cursor.sequence < pruned ? missed(pruned - cursor.sequence, at: cursor) : nil) }
        } else if cursor.sequence < pruned {
            return (cursor, missed(pruned - cursor.sequence, at: cursor))
        }
        // Another trail: what it has recorded itself is still to come.
        let begin = try await store.beginOfTrail()
        let place = EventCursor(begin.sequence, begin.link)
        return (place, missed(1, at: place))
    }

    private func missed(_ count: Int64, at cursor: EventCursor) -> SessionEvent {
        var event = SessionEvent(
            .missed(count: Int(count)), login: nil, userId: nil, generation: nil, date: now.date)
        event.cursor = cursor
        return event
    }

    private struct RowScope {
        var user: UserHandle?
        var login: LoginHandle?
        /// There is no such user, so there is nothing of theirs.
        var isEmpty = false

        var isWhole: Bool { !isEmpty && user == nil && login == nil }

        func takes(_ row: SessionRow) -> Bool {
            !isEmpty && (user.map { $0 == row.user } ?? true) && (login.map { $0 == row.login } ?? true)
        }
    }

    private func rows(of feed: FeedScope) async throws -> RowScope {
        switch feed {
        case .all: return RowScope()
        case .login(let login): return RowScope(login: login)
        case .user(let userId):
            guard !userId.isEmpty else { return RowScope(isEmpty: true) }
            do throws(StoreError) {
                return RowScope(user: try await store.user(userId).handle)
            } catch {
                guard error.code == .notFound(.user) else { throw error }
                return RowScope(isEmpty: true)
            }
        }
    }

    private func events(
        of entry: AuditEntry, _ scope: RowScope, _ names: inout [UserHandle: String]
    ) async throws -> [SessionEvent] {
        if scope.isWhole, let event = entry.providerEvent { return [event] }
        guard entry.damage == nil, let row = SessionRow(entry), scope.takes(row) else { return [] }
        if names[row.user] == nil { names[row.user] = (try? await store.userId(of: row.user)) ?? "" }
        var watched = WatchedLogin(before: row, userId: names[row.user] ?? "", nil)
        return watched.take(row, nil, sessions.options)
    }
}

extension VaultStore {
    /// The place before the row that says that the vault was restored, or that a failover has lost rows: whatever came since
    /// is of this trail alone. The end of the trail, if no row says so.
    func beginOfTrail() async throws(StoreError) -> AuditPosition {
        let head = try await auditHead()
        var restored = AuditFilter()
        restored.kinds = [.vaultRestored, .failoverSettled]
        let rows = try await audit(restored, .before(head + 1), limit: 256).rows.map(\.entry)
        let loss = rows.first { $0.kind == .vaultRestored || $0.detail.contains(.init("outcome", "lost")) }
        let begin = loss.map { $0.sequence - 1 } ?? head
        return try await auditPosition(begin) ?? AuditPosition(sequence: begin, link: .genesis)
    }
}
