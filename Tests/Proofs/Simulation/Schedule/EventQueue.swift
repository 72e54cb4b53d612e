/// What is going to happen at some instant of the simulated time, in order.
final class EventQueue {
    struct Event {
        let time: Int64
        let number: Int
        /// Of a process: it goes when the process dies. 0 is the world's.
        let process: Int
        let action: () -> Void
    }

    /// Milliseconds since the simulation began.
    private(set) var now: Int64 = 0
    private var events: [Event] = []
    private var lastNumber = 0

    var isEmpty: Bool { events.isEmpty }
    var nextTime: Int64? { events.first?.time }

    @discardableResult
    func add(after milliseconds: Int64, of process: Int = 0, _ action: @escaping () -> Void) -> Int {
        lastNumber += 1
        let event = Event(
            time: now + max(0, milliseconds), number: lastNumber, process: process, action: action)
        let index = events.firstIndex { $0.time > event.time } ?? events.count
        events.insert(event, at: index)
        return lastNumber
    }

    func cancel(_ number: Int) -> Event? {
        guard let index = events.firstIndex(where: { $0.number == number }) else { return nil }
        return events.remove(at: index)
    }

    func removeEvents(of process: Int) -> [Event] {
        let removed = events.filter { $0.process == process }
        events.removeAll { $0.process == process }
        return removed
    }

    /// The next one that `isAllowed`; the time moves on to it.
    func takeNext(_ isAllowed: (Event) -> Bool = { _ in true }) -> Event? {
        guard let index = events.firstIndex(where: isAllowed) else { return nil }
        let event = events.remove(at: index)
        now = max(now, event.time)
        return event
    }

    func advance(by milliseconds: Int64) { now += milliseconds }
}
