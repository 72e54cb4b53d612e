import DequeModule
import Synchronization
import VaultStorage

/// Lets so many renewals of one provider run at the same time, and begin in a minute, as its profile allows. Callers go
/// before the scheduler, and among each other whoever came first.
///
/// In this process: several of them ask side by side.
final class ProviderTurns: Sendable {
    /// Nil: no bound is known.
    struct Limits: Equatable, Sendable {
        var concurrent: Int?
        var perMinute: Int?
    }

    enum Priority: Sendable {
        case caller
        case background
    }

    private struct Waiter: Sendable {
        let id: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct Queue {
        var limits = Limits()
        var running = 0
        var bucket: TokenBucket?
        var callers: Deque<Waiter> = []
        var background: Deque<Waiter> = []
        var hasAlarm = false

        mutating func adopt(_ limits: Limits, now: Duration) {
            self.limits = limits
            guard bucket?.requestsPerMinute != limits.perMinute else { return }
            bucket = limits.perMinute.map { TokenBucket(requestsPerMinute: $0, now: now) }
        }

        mutating func next(now: Duration) -> Waiter? {
            guard running < limits.concurrent ?? .max else { return nil }
            let isBackground = callers.isEmpty
            guard !isBackground || !background.isEmpty, bucket?.take(now: now, isBackground: isBackground) ?? true
            else { return nil }
            running += 1
            return isBackground ? background.popFirst() : callers.popFirst()
        }
    }

    private struct State {
        var queues: [ProviderHandle: Queue] = [:]
        var lastID = 0
    }

    private let timeSource: any TimeSource
    private let state = Mutex(State())

    init(timeSource: any TimeSource) {
        self.timeSource = timeSource
    }

    func newID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Waits for a turn. Each is to be followed by one ``end(_:isUnused:)``.
    ///
    /// - Parameter id: from ``newID()``, for ``promote(_:at:)``.
    func begin(_ id: Int, _ provider: ProviderHandle, _ limits: Limits, _ priority: Priority) async {
        let now = timeSource.uptime()
        await withCheckedContinuation { continuation in
            state.withLock { state in
                var queue = state.queues[provider] ?? Queue()
                queue.adopt(limits, now: now)
                let waiter = Waiter(id: id, continuation: continuation)
                switch priority {
                case .caller: queue.callers.append(waiter)
                case .background: queue.background.append(waiter)
                }
                state.queues[provider] = queue
            }
            advance(provider)
        }
    }

    /// Gives the turn to who is next.
    ///
    /// - Parameter isUnused: Nothing was sent.
    func end(_ provider: ProviderHandle, isUnused: Bool = false) {
        state.withLock { state in
            state.queues[provider]?.running -= 1
            if isUnused { state.queues[provider]?.bucket?.giveBack() }
        }
        advance(provider)
    }

    /// A caller waits for what the scheduler began.
    func promote(_ id: Int, at provider: ProviderHandle) {
        state.withLock { state in
            guard var queue = state.queues[provider], let index = queue.background.firstIndex(where: { $0.id == id })
            else { return }
            queue.callers.append(queue.background.remove(at: index))
            state.queues[provider] = queue
        }
        advance(provider)
    }

    /// How many turns the scheduler may take now, and if none, when to look again; nil: when a turn ends.
    func forBackground(_ provider: ProviderHandle, _ limits: Limits) -> (count: Int, lookAgainAfter: Duration?) {
        let now = timeSource.uptime()
        return state.withLock { state in
            var queue = state.queues[provider] ?? Queue()
            queue.adopt(limits, now: now)
            defer { state.queues[provider] = queue }
            let waiting = queue.callers.count + queue.background.count
            let places = (limits.concurrent ?? .max) - queue.running - waiting
            guard places > 0 else { return (0, nil) }
            guard let available = queue.bucket?.available(now: now, isBackground: true) else { return (places, nil) }
            let count = min(places, available - waiting)
            return count > 0 ? (count, nil) : (0, queue.bucket?.wait(now: now, isBackground: true))
        }
    }

    /// How many wait.
    func waitingCount(_ provider: ProviderHandle) -> Int {
        state.withLock { state in
            state.queues[provider].map { $0.callers.count + $0.background.count } ?? 0
        }
    }

    private func advance(_ provider: ProviderHandle) {
        let now = timeSource.uptime()
        let (ready, alarm) = state.withLock { state -> ([Waiter], Duration?) in
            guard var queue = state.queues[provider] else { return ([], nil) }
            defer { state.queues[provider] = queue }
            var ready: [Waiter] = []
            while let waiter = queue.next(now: now) { ready.append(waiter) }
            // What is held up by the number of turns goes on when one ends; by the rate, when time has passed.
            let isBackground = queue.callers.isEmpty
            guard !queue.hasAlarm, !isBackground || !queue.background.isEmpty,
                queue.running < queue.limits.concurrent ?? .max,
                let wait = queue.bucket?.wait(now: now, isBackground: isBackground)
            else { return (ready, nil) }
            queue.hasAlarm = true
            return (ready, max(wait, .milliseconds(1)))
        }
        for waiter in ready { waiter.continuation.resume() }
        guard let alarm else { return }
        Task {
            try? await self.timeSource.sleep(for: alarm)
            self.state.withLock { $0.queues[provider]?.hasAlarm = false }
            self.advance(provider)
        }
    }
}

/// The turn of one renewal, which it takes once and gives back once.
final class HeldTurn: Sendable {
    private struct State {
        var provider: ProviderHandle?
        var isHeld = false
        var isPromoted = false
    }

    private let turns: ProviderTurns
    private let id: Int
    private let state = Mutex(State())

    init(_ turns: ProviderTurns) {
        self.turns = turns
        id = turns.newID()
    }

    func begin(_ provider: ProviderHandle, _ limits: ProviderTurns.Limits, _ priority: ProviderTurns.Priority) async {
        let effective: ProviderTurns.Priority? = state.withLock { state in
            guard !state.isHeld else { return nil }
            state.provider = provider
            return state.isPromoted ? .caller : priority
        }
        guard let effective else { return }
        await turns.begin(id, provider, limits, effective)
        state.withLock { $0.isHeld = true }
    }

    /// A caller waits for this renewal.
    func promote() {
        let provider = state.withLock { state in
            defer { state.isPromoted = true }
            return state.isHeld || state.isPromoted ? nil : state.provider
        }
        if let provider { turns.promote(id, at: provider) }
    }

    func end(isUnused: Bool = false) {
        let held = state.withLock { state in
            defer { state.isHeld = false }
            return state.isHeld ? state.provider : nil
        }
        if let held { turns.end(held, isUnused: isUnused) }
    }
}
