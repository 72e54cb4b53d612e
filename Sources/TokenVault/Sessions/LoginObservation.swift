import Logging
import ServiceLifecycle
import Synchronization
import VaultStorage

/// Notifies an observer of events in the logins of a vault, for as long as it runs and no other process does.
///
/// A ``VaultService`` runs one for each of its observers.
package final class LoginObservation: Service {
    private static let longestPause = Duration.seconds(60)
    /// Rows without news for the observer are passed in memory; a restart may read that many, or as old ones, again.
    private static let mostUnstoredRows: Int64 = 1_000
    private static let longestUnstored = Duration.seconds(60)

    private let vault: Vault
    private let observer: any LoginObserver
    private let name: String
    private let beginning: EventCursor?
    private let routine: Routine
    /// Nil: another process delivers, or none yet.
    private let delivery = Mutex<Delivery?>(nil)
    private let failures = Mutex(0)

    /// - Parameter beginning: Everything up to it needs no delivery if the vault does not know the observer; nil: nothing up
    ///   to now does.
    package init(_ vault: Vault, _ observer: any LoginObserver, after beginning: EventCursor? = nil) {
        self.vault = vault
        self.observer = observer
        self.beginning = beginning
        name = observer.name
        routine = Routine(vault)
    }

    /// Works until the service group shuts down, the task is cancelled or the vault is closed.
    package func run() async throws {
        try await routine.run { await self.observe() }
        await release()
    }

    /// - Returns: The time until the next look.
    private func observe() async -> Duration {
        do {
            if var delivery = try await claim() {
                defer { self.delivery.withLock { [delivery] in $0 = delivery } }
                try await deliver(&delivery)
            }
            failures.withLock { $0 = 0 }
            return vault.sessions.options.pollInterval
        } catch is CancellationError {
            return .zero
        } catch is ClaimLost {
            delivery.withLock { $0 = nil }
            return vault.sessions.options.pollInterval
        } catch {
            let tries = failures.withLock { failures in
                failures += 1
                return failures
            }
            let pause = min(Self.longestPause, .seconds(1 << min(tries - 1, 6)))
            vault.logger.warning(
                "an observer could not be notified of an event",
                metadata: [
                    "vault-observer": "\(name)", "vault-observer-tries": "\(tries)", "reason": "\(type(of: error))",
                ])
            return pause
        }
    }

    /// Another process has taken over.
    private struct ClaimLost: Error {}

    // MARK: The claim

    /// How far the observer has got, in the only process that delivers to it.
    private struct Delivery: Sendable {
        /// As the vault has it.
        var stored: ObserverRecord
        var storedCursor: EventCursor
        var storedAt: Duration
        /// Where the delivery is.
        var cursor: EventCursor
        /// How many events of a row after the cursor need no delivery any more, by the position after that row.
        var passed: [EventCursor: Int] = [:]
        /// Whether the observer has handled an event since the cursor was stored.
        var isUnstored = false

        mutating func advance(to next: EventCursor) {
            guard next != cursor else { return }
            cursor = next
            passed = [:]
        }
    }

    /// - Returns: Nil while another process delivers.
    private func claim() async throws -> Delivery? {
        if let known = delivery.withLock({ $0 }), try await vault.store.observer(name)?.owner == vault.store.owner {
            return known
        }
        delivery.withLock { $0 = nil }
        let head = try await vault.eventHead()
        let start = beginning ?? head
        guard
            let record = try await vault.store.claimObserver(
                name, start: start.description, head: head.description)
        else { return nil }
        if record.incarnation == ObserverRecord.unknown {
            vault.logger.warning(
                "the vault's row of an observer was damaged: it begins again", metadata: ["vault-observer": "\(name)"])
        }
        let cursor = EventCursor(record.cursor) ?? head
        return Delivery(
            stored: record, storedCursor: cursor, storedAt: vault.timeSource.uptime(), cursor: cursor)
    }

    /// Lets another process take over at once.
    private func release() async {
        guard var delivery = delivery.withLock({ $0 }) else { return }
        delivery.stored.owner = ObserverRecord.nobody
        // If it fails, another process takes over once this one has closed the vault.
        try? await store(&delivery)
        self.delivery.withLock { $0 = nil }
    }

    private func store(_ delivery: inout Delivery) async throws {
        delivery.stored.cursor = delivery.cursor.description
        guard try await vault.store.advance(delivery.stored) else { throw ClaimLost() }
        delivery.storedCursor = delivery.cursor
        delivery.storedAt = vault.timeSource.uptime()
        delivery.isUnstored = false
    }

    // MARK: Events

    private func deliver(_ delivery: inout Delivery) async throws {
        if delivery.isUnstored { try await store(&delivery) }
        try await reportRestore(&delivery)
        while true {
            try Task.checkCancellation()
            let page = try await vault.storedEvents(after: delivery.cursor)
            for row in page.rows {
                try await deliver(row, &delivery)
                if Task.isShuttingDownGracefully || vault.isClosing { return }
            }
            delivery.advance(to: page.cursor)
            if isStoringDue(delivery) { try await store(&delivery) }
            if page.isLast { return }
        }
    }

    /// The vault was put back to an earlier state, or the observer's own row was damaged: what it has heard may not have
    /// happened, and what has happened may be in no record.
    private func reportRestore(_ delivery: inout Delivery) async throws {
        let incarnation = vault.store.context.incarnation
        guard delivery.stored.incarnation != incarnation else { return }
        var event = SessionEvent(
            .missed(count: 1), login: nil, userId: nil, generation: nil, date: vault.now.date)
        event.cursor = delivery.cursor
        try await observer.observe(event)
        delivery.stored.incarnation = incarnation
        delivery.isUnstored = true
        try await store(&delivery)
    }

    private func deliver(_ row: StoredEventPage.Row, _ delivery: inout Delivery) async throws {
        for event in row.events.dropFirst(delivery.passed[row.cursor] ?? 0) {
            if event.kind.isForObservers {
                // A host that has lost its lock counts as dead, and another process may deliver.
                guard vault.store.ownsItsLock else { throw ClaimLost() }
                try await observer.observe(event)
                delivery.isUnstored = true
            }
            delivery.passed[row.cursor, default: 0] += 1
        }
        delivery.advance(to: row.cursor)
        if delivery.isUnstored { try await store(&delivery) }
    }

    private func isStoringDue(_ delivery: Delivery) -> Bool {
        guard delivery.cursor != delivery.storedCursor else { return false }
        return delivery.isUnstored
            || delivery.cursor.sequence - delivery.storedCursor.sequence >= Self.mostUnstoredRows
            || vault.timeSource.uptime() - delivery.storedAt >= Self.longestUnstored
    }
}
