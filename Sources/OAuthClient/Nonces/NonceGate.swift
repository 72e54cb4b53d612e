import Synchronization

/// Lets requests whose nonce was refused go to one server in small numbers.
///
/// A server may change its nonce every few uses. Of many requests at the same time most then come with one that is used up,
/// and their repeats meet each other in the same way. Behind the gate a repeat has the nonce of the reply before it. While
/// repeats succeed, more and more go at a time: where a nonce has merely grown old, the first ones free all others.
package final class NonceGate: Sendable {
    /// How the gate measures time, and how a test's clock learns of those who wait.
    package struct Clock: Sendable {
        /// Runs an action after a time; what it returns calls that off.
        let alarm: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void
        /// A task begins to wait; what it returns is called right before the task goes on.
        let beginWait: @Sendable () -> (@Sendable () -> Void)?

        package init(
            alarm: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void,
            beginWait: @escaping @Sendable () -> (@Sendable () -> Void)?
        ) {
            self.alarm = alarm
            self.beginWait = beginWait
        }
    }

    /// The right to send one request. Each is followed by one ``leave(_:isRefused:)``.
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
        /// How many may be inside.
        var width = 1
        /// Successes in a row, and how many let one more be inside: twice as many after each refusal.
        var successes = 0
        var neededSuccesses = 2
        /// Who is inside, and how to call off the end of the patience with it.
        var inside: [Int: @Sendable () -> Void] = [:]
        /// One that was refused too often to meet another one again.
        var goesAlone: Int?
        /// Whose nonce was refused most often comes first.
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

    /// One slow request does not hold up the others for longer.
    package static let patience = Duration.seconds(5)
    private static let triesBeforeGoingAlone = 3

    private let clock: Clock
    private let state = Mutex(State())

    package init(clock: Clock) {
        self.clock = clock
    }

    /// Waits until one more request may go.
    ///
    /// - Parameters:
    ///   - tries: How often this request has been refused.
    ///   - time: How long to wait at most.
    /// - Returns: Nil if the time is over, or the task was cancelled.
    package func enter(_ place: String, tries: Int, within time: Duration) async -> Pass? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // A cancellation that comes when a pass was already given leaves nothing behind.
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        if enterAtOnce(place, id, tries) { return Pass(place: place, id: id, hasWaited: false) }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(place, id, tries, time, $0) }
        } onCancel: {
            turnAway(id, place, isCancelled: true)
        }
        return isAdmitted ? Pass(place: place, id: id, hasWaited: true) : nil
    }

    /// - Parameter isRefused: The server wanted yet another nonce.
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
        // The last one inside may have left meanwhile.
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

    /// Lets in whom the change makes room for.
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
        place.inside[id] = clock.alarm(Self.patience) {
            self.change(name) { $0.remove(id) }
        }
    }
}
