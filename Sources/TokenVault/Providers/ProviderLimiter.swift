import DequeModule
import Synchronization
import VaultStorage

/// Lets so many renewals of one provider run at the same time, and begin in a minute, as its profile allows. Callers go
/// before the scheduler, and among each other whoever came first.
///
/// In this process: several of them ask side by side.
final class ProviderLimiter: Sendable {
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
        let hasTurn = OneAnswer<Bool>()
    }

    private struct Queue {
        var limits = Limits()
        var running = 0
        var bucket: TokenBucket?
        var callers: Deque<Waiter> = []
        var background: Deque<Waiter> = []
        /// When the queue is next checked against its rate, and by which alarm: earlier ones are void.
        var alarm: (at: Duration, number: Int)?

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

        mutating func dismissAll() -> [Waiter] {
            defer {
                callers = []
                background = []
            }
            return Array(callers) + Array(background)
        }

        /// What is held up by the number of turns goes on when one ends; by the rate, when this time has passed.
        mutating func waitForRate(now: Duration) -> Duration? {
            let isBackground = callers.isEmpty
            guard !isBackground || !background.isEmpty, running < limits.concurrent ?? .max else { return nil }
            return (bucket?.wait(now: now, isBackground: isBackground)).map { max($0, .milliseconds(1)) }
        }
    }

    private struct State {
        var queues: [ProviderHandle: Queue] = [:]
        var lastID = 0
        var lastAlarm = 0
        var isClosed = false
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

    /// Waits for a turn. Each that was given is to be followed by one ``end(_:isUnused:)``.
    ///
    /// - Parameters:
    ///   - id: from ``newID()``, for ``promote(_:at:)``.
    ///   - priority: asked for when the place in the queue is taken.
    /// - Returns: false if there are no more turns.
    @discardableResult
    func begin(
        _ id: Int, _ provider: ProviderHandle, _ limits: Limits, _ priority: @autoclosure () -> Priority
    ) async -> Bool {
        let now = timeSource.uptime()
        let waiter = Waiter(id: id)
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            var queue = state.queues[provider] ?? Queue()
            queue.adopt(limits, now: now)
            switch priority() {
            case .caller: queue.callers.append(waiter)
            case .background: queue.background.append(waiter)
            }
            state.queues[provider] = queue
            return false
        }
        guard !isClosed else { return false }
        advance(provider)
        return await waiter.hasTurn.value()
    }

    /// Sends away all that wait, and all that come.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            return state.queues.keys.flatMap { state.queues[$0]?.dismissAll() ?? [] }
        }
        for waiter in waiting { waiter.hasTurn.give(false) }
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
        let (ready, alarm) = state.withLock { state -> ([Waiter], (after: Duration, number: Int)?) in
            guard var queue = state.queues[provider] else { return ([], nil) }
            defer { state.queues[provider] = queue }
            var ready: [Waiter] = []
            while let waiter = queue.next(now: now) { ready.append(waiter) }
            guard let wait = queue.waitForRate(now: now) else { return (ready, nil) }
            // A caller may go before the background waiter for whom the alarm was set.
            if let alarm = queue.alarm, alarm.at <= now + wait { return (ready, nil) }
            state.lastAlarm += 1
            queue.alarm = (now + wait, state.lastAlarm)
            return (ready, (wait, state.lastAlarm))
        }
        for waiter in ready { waiter.hasTurn.give(true) }
        guard let alarm else { return }
        _ = timeSource.alarm(after: alarm.after) {
            let isCurrent = self.state.withLock { state in
                guard state.queues[provider]?.alarm?.number == alarm.number else { return false }
                state.queues[provider]?.alarm = nil
                return true
            }
            if isCurrent { self.advance(provider) }
        }
    }
}

/// The turn of one renewal, which it takes once and gives back once.
final class RateLimitPermit: Sendable {
    private struct State {
        var provider: ProviderHandle?
        var isHeld = false
        var isPromoted = false
    }

    private let turns: ProviderLimiter
    private let id: Int
    private let state = Mutex(State())

    init(_ turns: ProviderLimiter) {
        self.turns = turns
        id = turns.newID()
    }

    var isHeld: Bool { state.withLock { $0.isHeld } }

    /// False if there are no more turns, because the vault is being closed.
    @discardableResult
    func begin(
        _ provider: ProviderHandle, _ limits: ProviderLimiter.Limits, _ priority: ProviderLimiter.Priority
    ) async -> Bool {
        let isHeld = state.withLock { state in
            if !state.isHeld { state.provider = provider }
            return state.isHeld
        }
        guard !isHeld else { return true }
        // A caller who comes while the place is being taken finds it, or is found here.
        guard await turns.begin(id, provider, limits, state.withLock { $0.isPromoted ? .caller : priority }) else {
            return false
        }
        state.withLock { $0.isHeld = true }
        return true
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
