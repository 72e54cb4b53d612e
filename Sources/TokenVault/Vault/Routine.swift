import ServiceLifecycle
import VaultStorage

/// Something that a service does now and then for as long as the vault is open.
struct Routine: Sendable {
    let vault: Vault
    private let wakeup = Wakeup()

    init(_ vault: Vault) { self.vault = vault }

    /// Works until the service group shuts down, the task is cancelled or the vault is closed.
    ///
    /// - Parameters:
    ///   - timeToNext: The time until something is due.
    ///   - work: Does what is due, and gives the time until it is due again.
    ///   - failed: Hears why something could not be done, and gives the time until the next try.
    func run(
        timeToNext: @Sendable () async throws -> Duration, work: @Sendable () async throws -> Duration,
        failed: @Sendable (any Error) -> Duration
    ) async throws {
        try await run {
            do {
                let left = try await timeToNext()
                return left > .zero ? left : try await work()
            } catch is CancellationError {
                return .zero
            } catch {
                return failed(error)
            }
        }
    }

    /// - Parameter body: Does the work that is due, and returns the time until the next work.
    func run(_ body: @Sendable () async -> Duration) async throws {
        try vault.requireOpen()
        let wakeup = wakeup
        let closing = vault.whenClosing { wakeup.stop() }
        defer { vault.forgetClosingAction(closing) }
        await withTaskCancellationOrGracefulShutdownHandler {
            while !wakeup.isStopped, !Task.isCancelled {
                await wakeup.wait(for: await body(), vault.timeSource)
            }
        } onCancelOrGracefulShutdown: {
            wakeup.stop()
        }
    }

    /// Until something that was done last at `last` is due again.
    func time(until interval: Duration, after last: Timestamp?) -> Duration {
        guard let last else { return .zero }
        let age = vault.now.since(last)
        // A clock that was set back must not put it off for years.
        return age < .zero ? .zero : interval - age
    }
}
