/// Some events of the vault's record, in the order in which they happened.
package struct StoredEventPage: Sendable, Equatable {
    /// The events of one row of the trail, or the report of a gap.
    package struct Row: Sendable, Equatable {
        package let events: [SessionEvent]
        /// The position after the row. A gap has the position at which it was found.
        package let cursor: EventCursor
    }

    /// Rows that have events. May be empty, although there are further pages.
    package let rows: [Row]
    /// Where the next page begins, once these events have been handled.
    package let cursor: EventCursor
    /// Whether there is nothing after it yet.
    package let isLast: Bool

    package var events: [SessionEvent] { rows.flatMap(\.events) }
}

/// Events from the vault's record, and then new ones. See ``UserManager/events(after:of:)``.
struct StoredEvents: AsyncSequence, Sendable {
    typealias Element = SessionEvent
    typealias Failure = any Error

    let vault: Vault
    let session: SessionRef?
    let cursor: EventCursor
    let scope: TenantScope

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self, cursor: cursor) }

    /// One reader of the record.
    struct Iterator: AsyncIteratorProtocol {
        let sequence: StoredEvents
        var cursor: EventCursor
        var events = [SessionEvent]()[...]

        /// Waits for the next event. Nil when the vault is closed.
        mutating func next() async throws -> SessionEvent? {
            while events.isEmpty {
                try Task.checkCancellation()
                guard !sequence.vault.isClosing else { return nil }
                let page = try await sequence.vault.storedEvents(
                    after: cursor, of: sequence.session, in: sequence.scope)
                cursor = page.cursor
                events = page.events[...]
                if events.isEmpty, page.isLast { try await sequence.vault.waitForRows() }
            }
            return events.removeFirst()
        }
    }
}
