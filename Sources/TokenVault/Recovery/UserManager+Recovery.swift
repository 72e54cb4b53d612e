extension UserManager {
    /// Looks once for what processes that have ended left behind, and for doubts whose time has come, and deals with
    /// it.
    ///
    /// A manager does it by itself when it is made, if there is anything, and every
    /// ``UserManagerOptions/recoveryInterval``. Any number of managers and processes may do it at once: the work is
    /// shared, and nothing is done twice. Nothing is sent for a login that is dead, held, ended or postponed, nor to a
    /// provider that refuses this client.
    ///
    /// Returns when all that was found has been tried, which may take as long as the providers take.
    @discardableResult
    public func recover() async throws -> RecoveryReport {
        try vault.requireOpen()
        return await engine.recover()
    }
}

/// What one pass of recovery did.
public struct RecoveryReport: Sendable, Equatable {
    /// Replies that the vault could not take when they came, and that are stored now or queued to be revoked.
    public var restoredReplies: Int
    /// Renewals that were open and are settled now.
    public var settledRenewals: Int
    /// Renewals that are still open and not being worked on: postponed, or not settled by this try.
    public var openRenewals: Int
}

/// The recovery that a manager does by itself. It keeps neither the manager nor the process alive.
final class BackgroundRecovery: Sendable {
    private let task: Task<Void, Never>
    private let vault: Vault
    private let closing: Vault.ClosingAction

    init(_ engine: RenewalEngine, interval: Duration, startsAtOnce: Bool) {
        vault = engine.vault
        let timeSource = vault.timeSource
        let task = vault.spawn { [weak engine] in
            if !startsAtOnce, await !Self.sleep(interval, timeSource) { return }
            while !Task.isCancelled {
                guard let current = engine, !current.vault.isClosing else { return }
                current.vault.lookAtClock()
                _ = await current.recover()
                guard await Self.sleep(interval, timeSource) else { return }
            }
        }
        self.task = task
        closing = vault.whenClosing { task.cancel() }
    }

    deinit {
        task.cancel()
        vault.forgetClosingAction(closing)
    }

    private static func sleep(_ interval: Duration, _ timeSource: any TimeSource) async -> Bool {
        (try? await timeSource.sleep(for: interval)) != nil
    }
}
