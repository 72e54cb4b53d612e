import Logging
import ServiceLifecycle
import Synchronization

/// Notifies an observer of events in the logins of a vault, for as long as it runs.
///
/// A ``VaultService`` runs one for each of ``VaultServiceOptions/observers``.
package final class LoginObservation: Service {
    private static let longestPause = Duration.seconds(60)

    private let vault: Vault
    private let observer: any LoginObserver
    private let routine: Routine
    private let cursor = Mutex<EventCursor?>(nil)
    private let failures = Mutex(0)

    package init(_ vault: Vault, _ observer: any LoginObserver) {
        self.vault = vault
        self.observer = observer
        routine = Routine(vault)
    }

    /// Works until the service group shuts down, the task is cancelled or the vault is closed.
    package func run() async throws {
        try await routine.run { await self.turn() }
    }

    /// - Returns: The time until the next turn.
    private func turn() async -> Duration {
        do {
            try await reportAll()
            failures.withLock { $0 = 0 }
            return vault.sessions.options.pollInterval
        } catch is CancellationError {
            return .zero
        } catch {
            let tries = failures.withLock { failures in
                failures += 1
                return failures
            }
            let pause = min(Self.longestPause, .seconds(1 << min(tries - 1, 6)))
            vault.logger.warning(
                "an observer could not be notified of an event",
                metadata: ["vault-observer-tries": "\(tries)", "reason": "\(type(of: error))"])
            return pause
        }
    }

    private func reportAll() async throws {
        try await vault.deliverStoredEvents(after: start()) { [observer] event in
            if event.kind.isForObservers { try await observer.observe(event) }
        } save: { place in
            try await self.observer.save(place)
            self.cursor.withLock { $0 = place }
        }
    }

    /// Saved before the first event: a death right after the first start must still be reported after the next one.
    private func start() async throws -> EventCursor {
        if let cursor = cursor.withLock({ $0 }) { return cursor }
        let saved = try await observer.savedCursor()
        let place: EventCursor
        if let saved {
            place = saved
        } else {
            place = try await vault.eventHead()
            try await observer.save(place)
        }
        cursor.withLock { $0 = place }
        return place
    }
}
