import Logging
import ServiceLifecycle
package import VaultStorage

/// Rotates the root key when it is old enough, and resumes an interrupted rotation.
///
/// The key's age is in the vault: a restart does not rotate it early, and several processes need not know of each
/// other.
package final class RootKeyScheduler: Service {
    private let vault: Vault
    private let options: RootKeySchedule
    private let routine: Routine
    /// The time to the next attempt after a failure, or if an old root had to be kept.
    private static let pause = Duration.seconds(3_600)

    package init(_ vault: Vault, options: RootKeySchedule) {
        self.vault = vault
        self.options = options
        routine = Routine(vault)
    }

    /// Works until the service group shuts down, the task is cancelled or the vault is closed.
    package func run() async throws {
        try await routine.run(timeToNext: timeToNext) {
            try await self.rotate().isComplete ? self.options.interval : Self.pause
        } failed: { error in
            self.vault.logger.warning(
                "the root key could not be rotated", metadata: ["reason": "\(type(of: error))"])
            self.options.onEvent?(.failed(error))
            return Self.pause
        }
    }

    /// Rotates the key if that is due, and returns.
    ///
    /// - Returns: The result; nil if no rotation is due.
    @discardableResult
    package func runOnce() async throws -> RootRotationReport? {
        guard try await timeToNext() <= .zero else { return nil }
        return try await rotate()
    }

    private func rotate() async throws -> RootRotationReport {
        let report = try await vault.rotateRootKey(progress: { _ in })
        options.onEvent?(.rotated(report))
        return report
    }

    @Sendable private func timeToNext() async throws -> Duration {
        let status = try await vault.rootKeyStatus()
        return status.isRotating ? .zero : routine.time(until: options.interval, after: Timestamp(status.madeAt))
    }
}

/// How often a scheduler rotates the root key.
package struct RootKeySchedule: Sendable {
    package enum Event: Sendable {
        /// An old root may have had to be kept: see ``RootRotationReport/isComplete``. The next try comes in an hour.
        case rotated(RootRotationReport)
        /// The next try comes in an hour.
        case failed(any Error)
    }

    /// At least a day.
    package var interval: Duration
    /// It must return soon.
    package var onEvent: (@Sendable (Event) -> Void)?

    package init(every interval: Duration, onEvent: (@Sendable (Event) -> Void)? = nil) {
        self.interval = max(.seconds(86_400), interval)
        self.onEvent = onEvent
    }
}
