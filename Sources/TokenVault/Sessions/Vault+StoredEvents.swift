import VaultCrypto
import VaultStorage

extension UserManager {
    /// Events since a saved position, and then new ones: for programs that must see each death, each need for a user
    /// and each recovery, also across restarts.
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
    /// Events come from the audit trail, in its order, from all processes. Save ``SessionEvent/cursor`` after handling
    /// the event: an unsaved event comes again, so each event comes **at least once**. Events that follow from time
    /// alone (``SessionEvent/Kind/willExpire(at:)`` and ``SessionEvent/Kind/expired``) are in no trail, and do not come
    /// here.
    ///
    /// ``SessionEvent/Kind/missed(count:)`` comes first if rows after the cursor were pruned, or if the vault was
    /// restored to an earlier state: then read the logins again.
    ///
    /// - Parameters:
    ///   - cursor: Everything up to it has been handled. ``EventCursor/start``: all that the vault still has.
    ///   - session: Only events of this login or user; nil: of all.
    public func events(
        after cursor: EventCursor, of session: SessionRef? = nil
    ) -> some AsyncSequence<SessionEvent, any Error> & Sendable {
        StoredEvents(vault: vault, session: session, cursor: cursor, scope: names)
    }
}

extension Vault {
    /// A page of events since a saved position: for programs that check now and then. See
    /// ``UserManager/events(after:of:)``.
    ///
    /// - Parameters:
    ///   - cursor: Everything up to it has been handled.
    ///   - session: Only events of this login or user; nil: of all.
    ///   - limit: How many rows of the trail are read at most: 1 to 10 000.
    package func storedEvents(
        after cursor: EventCursor, of session: SessionRef? = nil, limit: Int = 256, in scope: TenantScope = .whole
    ) async throws -> StoredEventPage {
        try requireOpen()
        return try await VaultError.translating {
            let (start, missed) = try await self.start(after: cursor)
            let page = try await store.audit(AuditFilter(), .after(start.sequence), limit: min(max(1, limit), 10_000))
            let wanted = try await self.rows(of: scope.feed(session))
            var rows = missed.map { [StoredEventPage.Row(events: [$0], cursor: start)] } ?? []
            var position = start
            var names: [UserHandle: String] = [:]
            for listing in page.rows {
                let next = EventCursor(listing.entry.sequence, listing.link)
                var told = try await self.events(of: listing.entry, wanted, &names)
                for index in told.indices { told[index].cursor = index == told.count - 1 ? next : position }
                let events = told.compactMap { scope.plain($0) }
                if !events.isEmpty { rows.append(.init(events: events, cursor: next)) }
                position = next
            }
            return StoredEventPage(rows: rows, cursor: position, isLast: page.next == nil)
        }
    }

    /// Delivers the events since a position one by one, up to the last one, each with the position after it. An error
    /// from the handler ends the delivery; it can resume at the position that was saved last.
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
            // Rows without an event are included, too: the position must not be pruned meanwhile.
            if page.cursor != cursor {
                cursor = page.cursor
                try await save(cursor)
            }
            if page.isLast { return }
        }
    }

    /// The position after all existing events: for readers that want only new ones.
    package func eventHead() async throws -> EventCursor {
        try await VaultError.translating {
            let head = try await store.auditHead()
            return EventCursor(head, try await store.auditPosition(head)?.link)
        }
    }

    /// Waits until it is worth checking again.
    func waitForRows() async throws { try await timeSource.sleep(for: sessions.options.pollInterval) }

    /// The actual start of the reading, with the event that reports a gap, if there is one.
    private func start(after cursor: EventCursor) async throws -> (EventCursor, SessionEvent?) {
        guard cursor != .start else { return (cursor, nil) }
        let pruned = try await store.trailPruning().through
        if try await has(cursor, prunedThrough: pruned) {
            return (cursor, cursor.sequence < pruned ? missed(pruned - cursor.sequence, at: cursor) : nil)
        }
        // Another trail: all of its own events are still to come.
        let begin = try await store.beginOfTrail()
        let place = EventCursor(begin.sequence, begin.link)
        return (place, missed(1, at: place))
    }

    /// Whether this vault's trail has the cursor's row, or may have had it before rows were pruned. If not, the cursor is
    /// no cursor of this vault, or the vault was put back to an earlier state, of which its trail need not know.
    package func has(_ cursor: EventCursor) async throws -> Bool {
        guard cursor != .start else { return true }
        return try await VaultError.translating {
            try await has(cursor, prunedThrough: try await store.trailPruning().through)
        }
    }

    private func has(_ cursor: EventCursor, prunedThrough pruned: Int64) async throws(StoreError) -> Bool {
        guard let link = try await store.auditPosition(cursor.sequence)?.link,
            cursor.sequence <= (try await store.auditHead())
        else { return cursor.sequence < pruned }
        return cursor.mark.isEmpty || cursor.mark == EventCursor.mark(of: link)
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
        /// There is no such user, and so no events of theirs.
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
        return watched.take(row, nil, sessions.options).filter { !$0.kind.isOfTime }
    }
}

extension VaultStore {
    /// The position before the row that records a restore, or a failover that lost rows: later rows belong to this
    /// trail alone. The end of the trail, if there is no such row.
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
