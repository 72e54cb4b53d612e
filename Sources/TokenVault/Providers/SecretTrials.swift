import Synchronization
import VaultStorage

/// Which providers' client secrets are being tried: once at a time for each.
final class SecretTrials: Sendable {
    private struct Waiter: Sendable {
        let continuation: CheckedContinuation<Bool, Never>
        let work: WorkToken?
        let alarm: Task<Void, Never>

        func resume(_ hasFound: Bool) {
            alarm.cancel()
            work?.endWait()
            continuation.resume(returning: hasFound)
        }
    }

    private struct State {
        var waiters: [ProviderHandle: [Int: Waiter]] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    /// False if they are being tried already.
    func begin(_ provider: ProviderHandle) -> Bool {
        state.withLock { state in
            guard state.waiters[provider] == nil else { return false }
            state.waiters[provider] = [:]
            return true
        }
    }

    /// - Parameter hasFound: Another secret than the first is the good one, and comes first from now on.
    func end(_ provider: ProviderHandle, hasFound: Bool) {
        let waiting = state.withLock { $0.waiters.removeValue(forKey: provider) ?? [:] }
        for waiter in waiting.values { waiter.resume(hasFound) }
    }

    /// What comes of a trial that is under way; false if there is none, or if it takes longer than this.
    func outcome(_ provider: ProviderHandle, within time: Duration, timeSource: any TimeSource) async -> Bool {
        let work = WorkToken.current
        return await withCheckedContinuation { continuation in
            let isUnderWay = state.withLock { state in
                guard state.waiters[provider] != nil else { return false }
                state.lastID += 1
                let id = state.lastID
                let alarm = timeSource.alarm(after: time) { self.giveUp(id, provider) }
                work?.beginWait()
                state.waiters[provider]?[id] = Waiter(continuation: continuation, work: work, alarm: alarm)
                return true
            }
            if !isUnderWay { continuation.resume(returning: false) }
        }
    }

    private func giveUp(_ id: Int, _ provider: ProviderHandle) {
        let waiter = state.withLock { $0.waiters[provider]?.removeValue(forKey: id) }
        waiter?.resume(false)
    }
}
