/// Lets everything happen in simulated time until a body is done.
final class WorldRun: @unchecked Sendable {
    let jobs = JobQueue.shared
    let events = EventQueue()
    let time: SimulatedTime
    private var isEnded = false

    init() { time = SimulatedTime(events) }

    /// - Parameter next: Which of so many jobs goes on.
    /// - Returns: What kept the body from its end; nil: nothing.
    func finish(
        next: (Int) -> Int, _ body: @escaping @Sendable () async throws -> Void
    ) -> String? {
        var problem: String?
        isEnded = false
        let box = Box()
        jobs.asProcess(1) {
            _ = Task {
                do { try await body() } catch { box.problem = "the world broke off: \(error)" }
                isEnded = true
            }
        }
        while !isEnded || !jobs.ready.isEmpty {
            if !jobs.ready.isEmpty {
                jobs.run(next(jobs.ready.count))
            } else if let event = events.takeNext() {
                jobs.asProcess(1) { event.action() }
            } else {
                problem = "the world does not go on"
                break
            }
        }
        return box.problem ?? problem
    }

    private final class Box: @unchecked Sendable {
        var problem: String?
    }
}
