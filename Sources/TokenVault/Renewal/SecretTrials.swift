import Synchronization
import VaultStorage

/// Which providers' client secrets are being tried: once at a time for each.
final class SecretTrials: Sendable {
    private let waiters = Mutex<[ProviderHandle: [CheckedContinuation<Bool, Never>]]>([:])

    /// False if they are being tried already.
    func begin(_ provider: ProviderHandle) -> Bool {
        waiters.withLock { waiters in
            guard waiters[provider] == nil else { return false }
            waiters[provider] = []
            return true
        }
    }

    /// - Parameter hasFound: Another secret than the first is the good one, and comes first from now on.
    func end(_ provider: ProviderHandle, hasFound: Bool) {
        let waiting = waiters.withLock { $0.removeValue(forKey: provider) ?? [] }
        for waiter in waiting { waiter.resume(returning: hasFound) }
    }

    /// The outcome of a trial that is under way; false if there is none.
    func outcome(_ provider: ProviderHandle) async -> Bool {
        await withCheckedContinuation { continuation in
            let isUnderWay = waiters.withLock { waiters in
                guard waiters[provider] != nil else { return false }
                waiters[provider]?.append(continuation)
                return true
            }
            if !isUnderWay { continuation.resume(returning: false) }
        }
    }
}
