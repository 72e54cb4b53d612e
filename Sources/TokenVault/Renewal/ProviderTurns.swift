import Synchronization
import VaultStorage

/// Lets so many renewals of one provider run at the same time as its profile allows. Whoever comes first goes first.
///
/// In this process: several of them ask side by side.
final class ProviderTurns: Sendable {
    private struct Queue {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let queues = Mutex<[ProviderHandle: Queue]>([:])

    /// Waits for a turn. Each is to be followed by one ``end(_:)``.
    func begin(_ provider: ProviderHandle, limit: Int) async {
        await withCheckedContinuation { continuation in
            let isFree = queues.withLock { queues in
                var queue = queues[provider] ?? Queue()
                defer { queues[provider] = queue }
                guard queue.running < limit else {
                    queue.waiting.append(continuation)
                    return false
                }
                queue.running += 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Gives the turn to who has waited longest.
    func end(_ provider: ProviderHandle) {
        let next = queues.withLock { queues -> CheckedContinuation<Void, Never>? in
            guard var queue = queues[provider] else { return nil }
            let next = queue.waiting.isEmpty ? nil : queue.waiting.removeFirst()
            if next == nil { queue.running -= 1 }
            queues[provider] = queue.running == 0 ? nil : queue
            return next
        }
        next?.resume()
    }

    /// How many wait.
    func waitingCount(_ provider: ProviderHandle) -> Int {
        queues.withLock { $0[provider]?.waiting.count ?? 0 }
    }
}

/// The turn of one renewal, which it takes once and gives back once.
final class HeldTurn: Sendable {
    private let turns: ProviderTurns
    private let provider = Mutex<ProviderHandle?>(nil)

    init(_ turns: ProviderTurns) {
        self.turns = turns
    }

    func begin(_ provider: ProviderHandle, limit: Int) async {
        guard self.provider.withLock({ $0 }) == nil else { return }
        await turns.begin(provider, limit: limit)
        self.provider.withLock { $0 = provider }
    }

    func end() {
        let held = provider.withLock { provider in
            defer { provider = nil }
            return provider
        }
        if let held { turns.end(held) }
    }
}
