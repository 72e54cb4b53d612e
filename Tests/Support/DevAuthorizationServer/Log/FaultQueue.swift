import Synchronization

/// Faults that wait for their requests. The first that matches is played, and leaves after its last time.
public final class FaultQueue: Sendable {
    private let faults = Mutex<[Fault]>([])
    private let delays = Mutex<(next: Int, underWay: [Int: Task<Void, any Error>])>((0, [:]))

    init() {}

    public var pending: [Fault] { faults.withLock { $0 } }

    public func add(_ fault: Fault) { faults.withLock { $0.append(fault) } }

    /// Takes away those that wait for requests of this user.
    public func removeAll(user: String) { faults.withLock { $0.removeAll { $0.user == user } } }

    public func removeAll() { faults.withLock { $0 = [] } }

    /// Ends the delays under way. A test need not guess how long a delay has to be.
    public func endDelays() {
        for delay in delays.withLock({ Array($0.underWay.values) }) { delay.cancel() }
    }

    /// Returns after this time, or as soon as `endDelays` is called.
    func delay(for duration: Duration) async throws {
        guard duration > .zero else { return }
        let (id, delay) = delays.withLock { delays in
            let delay = Task { try await Task.sleep(for: duration) }
            delays.next += 1
            delays.underWay[delays.next] = delay
            return (delays.next, delay)
        }
        defer { delays.withLock { $0.underWay[id] = nil } }
        await withTaskCancellationHandler {
            _ = await delay.result
        } onCancel: {
            delay.cancel()
        }
        try Task.checkCancellation()
    }

    func next(for record: RequestRecord) -> Fault? {
        faults.withLock { faults in
            for index in faults.indices where faults[index].matches(record) {
                if faults[index].skip > 0 {
                    faults[index].skip -= 1
                    continue
                }
                let fault = faults[index]
                if fault.times == 1 {
                    faults.remove(at: index)
                } else if fault.times > 1 {
                    faults[index].times -= 1
                }
                return fault
            }
            return nil
        }
    }
}
