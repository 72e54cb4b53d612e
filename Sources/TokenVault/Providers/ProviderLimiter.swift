import DequeModule
import Synchronization
import VaultStorage

/// Limits each provider's concurrent renewals, and those begun per minute, to what its profile allows. Callers go
/// before the scheduler, and among themselves in order of arrival.
///
/// It limits this process only: several processes each have the full limits.
final class ProviderLimiter: Sendable {
    /// The limits of one provider; nil: no limit is known.
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
        /// The time of the next check against the rate, and the number of its alarm; earlier alarms are void.
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

        /// The time until the rate allows the next waiter; nil if none waits, or if one must wait for another renewal
        /// to end.
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

    /// Waits for a permit. Each permit must be returned by one ``end(_:isUnused:)``.
    ///
    /// - Parameters:
    ///   - id: From ``newID()``, for ``promote(_:at:)``.
    ///   - priority: Evaluated when the waiter joins the queue.
    /// - Returns: False if the limiter is closed.
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

    /// Refuses all current and future waiters.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            return state.queues.keys.flatMap { state.queues[$0]?.dismissAll() ?? [] }
        }
        for waiter in waiting { waiter.hasTurn.give(false) }
    }

    /// Passes the permit to the next waiter.
    ///
    /// - Parameter isUnused: Whether nothing was sent.
    func end(_ provider: ProviderHandle, isUnused: Bool = false) {
        state.withLock { state in
            state.queues[provider]?.running -= 1
            if isUnused { state.queues[provider]?.bucket?.giveBack() }
        }
        advance(provider)
    }

    /// Moves a renewal of the scheduler to the callers' queue, because a caller waits for it.
    func promote(_ id: Int, at provider: ProviderHandle) {
        state.withLock { state in
            guard var queue = state.queues[provider], let index = queue.background.firstIndex(where: { $0.id == id })
            else { return }
            queue.callers.append(queue.background.remove(at: index))
            state.queues[provider] = queue
        }
        advance(provider)
    }

    /// The number of permits that the scheduler may take now, and if none, when to check again; nil: when a renewal
    /// ends.
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

    /// The number of waiters.
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

/// The permit of one renewal, which takes it once and returns it once.
final class RateLimitPermit: Sendable {
    private struct State {
        var provider: ProviderHandle?
        var isHeld = false
        var isPromoted = false
    }

    private let limiter: ProviderLimiter
    private let id: Int
    private let state = Mutex(State())

    init(_ limiter: ProviderLimiter) {
        self.limiter = limiter
        id = limiter.newID()
    }

    var isHeld: Bool { state.withLock { $0.isHeld } }

    /// False if there are no more permits, because the vault is being closed.
    @discardableResult
    func begin(
        _ provider: ProviderHandle, _ limits: ProviderLimiter.Limits, _ priority: ProviderLimiter.Priority
    ) async -> Bool {
        let isHeld = state.withLock { state in
            if !state.isHeld { state.provider = provider }
            return state.isHeld
        }
        guard !isHeld else { return true }
        // A caller that arrives meanwhile promotes the waiter in the queue, or is noticed here.
        guard await limiter.begin(id, provider, limits, state.withLock { $0.isPromoted ? .caller : priority }) else {
            return false
        }
        state.withLock { $0.isHeld = true }
        return true
    }

    /// A caller waits for this renewal. When this returns, it goes as a caller's, even if another caller's promotion
    /// is still under way.
    func promote() {
        let provider = state.withLock { state in
            state.isPromoted = true
            return state.isHeld ? nil : state.provider
        }
        if let provider { limiter.promote(id, at: provider) }
    }

    func end(isUnused: Bool = false) {
        let held = state.withLock { state in
            defer { state.isHeld = false }
            return state.isHeld ? state.provider : nil
        }
        if let held { limiter.end(held, isUnused: isUnused) }
    }
}
