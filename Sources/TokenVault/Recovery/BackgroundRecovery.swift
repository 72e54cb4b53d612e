/// The recovery that a manager does by itself. It keeps neither the manager nor the process alive.
final class BackgroundRecovery: Sendable {
    private let task: Task<Void, Never>
    private let vault: Vault
    private let closing: Vault.ClosingAction

    init(_ recovery: Recovery, interval: Duration, startsAtOnce: Bool) {
        vault = recovery.vault
        let timeSource = vault.timeSource
        let task = vault.spawn { [weak recovery] in
            if !startsAtOnce, await !Self.sleep(interval, timeSource) { return }
            while !Task.isCancelled {
                guard let current = recovery, !current.vault.isClosing else { return }
                current.vault.checkClock()
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
