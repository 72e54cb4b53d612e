import Synchronization

/// Limits how many requests whose nonce was rejected go to one server at a time.
///
/// A server may change its nonce every few uses. Then most of many simultaneous requests use an expired nonce, and
/// their retries collide in the same way. Behind the gate, each retry has the nonce of the reply before it. While
/// retries succeed, more and more run at a time: where a nonce had merely expired, the first ones release all others.
package final class NonceGate: Sendable {
    /// The gate's time source, with a hook for a test's clock.
    package struct Clock: Sendable {
        /// Runs an action after a time; the returned closure cancels it.
        let alarm: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void
        /// Called when a task begins to wait; the returned closure is called right before the task resumes.
        let beginWait: @Sendable () -> (@Sendable () -> Void)?

        package init(
            alarm: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void,
            beginWait: @escaping @Sendable () -> (@Sendable () -> Void)?
        ) {
            self.alarm = alarm
            self.beginWait = beginWait
        }
    }

    /// The permission to send one request. Each is followed by one ``leave(_:isRefused:)``.
    package struct Pass: Sendable {
        let place: String
        let id: Int
        package let hasWaited: Bool
    }

    private struct Waiter: Sendable {
        let id: Int
        let tries: Int
        let continuation: CheckedContinuation<Bool, Never>
        let endWait: (@Sendable () -> Void)?
        let cancelAlarm: @Sendable () -> Void

        func resume(_ isAdmitted: Bool) {
            cancelAlarm()
            endWait?()
            continuation.resume(returning: isAdmitted)
        }
    }

    private struct Place {
        /// The maximum number of requests inside.
        var width = 1
        /// Consecutive successes, and the number of them that admits one more request: doubled after each rejection.
        var successes = 0
        var neededSuccesses = 2
        /// The requests inside, and a closure that cancels the timeout of each.
        var inside: [Int: @Sendable () -> Void] = [:]
        /// A request that was rejected too often to share the gate again.
        var goesAlone: Int?
        /// Sorted by rejections, the most first.
        var waiters: [Waiter] = []

        mutating func add(_ waiter: Waiter) {
            waiters.insert(waiter, at: waiters.firstIndex { $0.tries < waiter.tries } ?? waiters.endIndex)
        }

        func hasRoom(for tries: Int) -> Bool {
            inside.isEmpty || goesAlone == nil && tries < NonceGate.triesBeforeGoingAlone && inside.count < width
        }

        mutating func note(isRefused: Bool) {
            successes = isRefused ? 0 : successes + 1
            if isRefused {
                width = 1
                neededSuccesses = min(neededSuccesses * 2, 64)
            } else if successes >= neededSuccesses {
                width += 1
                successes = 0
            }
        }

        mutating func remove(_ id: Int) {
            inside.removeValue(forKey: id)?()
            if goesAlone == id { goesAlone = nil }
        }
    }

    private struct State {
        var places: [String: Place] = [:]
        var lastID = 0
        /// Tasks that were cancelled before they could wait.
        var cancelled: Set<Int> = []
    }

    /// The longest time for which one slow request holds up the others.
    package static let timeLimit = Duration.seconds(5)
    private static let triesBeforeGoingAlone = 3

    private let clock: Clock
    private let state = Mutex(State())

    package init(clock: Clock) {
        self.clock = clock
    }

    /// Waits until one more request may be sent.
    ///
    /// - Parameters:
    ///   - tries: How often this request has been rejected.
    ///   - time: The maximum waiting time.
    /// - Returns: Nil if the time is up, or the task was cancelled.
    package func enter(_ place: String, tries: Int, within time: Duration) async -> Pass? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // A cancellation that arrives after the pass was given leaves nothing behind.
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        if enterAtOnce(place, id, tries) { return Pass(place: place, id: id, hasWaited: false) }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(place, id, tries, time, $0) }
        } onCancel: {
            turnAway(id, place, isCancelled: true)
        }
        return isAdmitted ? Pass(place: place, id: id, hasWaited: true) : nil
    }

    /// - Parameter isRefused: Whether the server asked for yet another nonce.
    package func leave(_ pass: Pass, isRefused: Bool) {
        change(pass.place) { place in
            place.remove(pass.id)
            place.note(isRefused: isRefused)
        }
    }

    private func enterAtOnce(_ name: String, _ id: Int, _ tries: Int) -> Bool {
        state.withLock { state in
            var place = state.places[name] ?? Place()
            guard place.waiters.isEmpty, place.hasRoom(for: tries) else { return false }
            admit(id, tries, to: &place, name)
            state.places[name] = place
            return true
        }
    }

    private func wait(
        _ name: String, _ id: Int, _ tries: Int, _ time: Duration, _ continuation: CheckedContinuation<Bool, Never>
    ) {
        let isCancelled = state.withLock { state in
            guard state.cancelled.remove(id) == nil else { return true }
            let cancelAlarm = clock.alarm(time) { self.turnAway(id, name, isCancelled: false) }
            let waiter = Waiter(
                id: id, tries: tries, continuation: continuation, endWait: clock.beginWait(), cancelAlarm: cancelAlarm)
            state.places[name, default: Place()].add(waiter)
            return false
        }
        guard !isCancelled else { return continuation.resume(returning: false) }
        // The last request inside may have left meanwhile.
        change(name) { _ in }
    }

    private func turnAway(_ id: Int, _ name: String, isCancelled: Bool) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.places[name]?.waiters.firstIndex(where: { $0.id == id }) else {
                if isCancelled { state.cancelled.insert(id) }
                return nil
            }
            return state.places[name]?.waiters.remove(at: index)
        }
        waiter?.resume(false)
    }

    /// Admits the waiters that the change makes room for.
    private func change(_ name: String, _ body: (inout Place) -> Void) {
        let ready = state.withLock { state -> [Waiter] in
            guard var place = state.places[name] else { return [] }
            body(&place)
            var ready: [Waiter] = []
            while let waiter = place.waiters.first, place.hasRoom(for: waiter.tries) {
                place.waiters.removeFirst()
                admit(waiter.id, waiter.tries, to: &place, name)
                ready.append(waiter)
            }
            state.places[name] = place.inside.isEmpty && place.waiters.isEmpty ? nil : place
            return ready
        }
        for waiter in ready { waiter.resume(true) }
    }

    private func admit(_ id: Int, _ tries: Int, to place: inout Place, _ name: String) {
        if tries >= Self.triesBeforeGoingAlone { place.goesAlone = id }
        place.inside[id] = clock.alarm(Self.timeLimit) {
            self.change(name) { $0.remove(id) }
        }
    }
}
