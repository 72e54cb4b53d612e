import Synchronization
import VaultStorage

/// The providers whose client secrets are being tried, one trial at a time for each.
final class SecretTrials: Sendable {
    /// The waiters for each trial that is under way.
    private let waiters = Mutex<[ProviderHandle: [OneAnswer<Bool>]]>([:])

    /// False if they are being tried already.
    func begin(_ provider: ProviderHandle) -> Bool {
        waiters.withLock { waiters in
            guard waiters[provider] == nil else { return false }
            waiters[provider] = []
            return true
        }
    }

    /// - Parameter hasFound: Whether another secret than the first is the valid one, and comes first from now on.
    func end(_ provider: ProviderHandle, hasFound: Bool) {
        let waiting = waiters.withLock { $0.removeValue(forKey: provider) ?? [] }
        for waiter in waiting { waiter.give(hasFound) }
    }

    /// The result of a trial that is under way; false if there is none, or if it takes longer than this.
    func outcome(_ provider: ProviderHandle, within time: Duration, timeSource: any TimeSource) async -> Bool {
        let answer = OneAnswer<Bool>()
        let isUnderWay = waiters.withLock { waiters in
            waiters[provider]?.append(answer)
            return waiters[provider] != nil
        }
        guard isUnderWay else { return false }
        return await answer.value(within: time, timeSource, otherwise: false)
    }
}
