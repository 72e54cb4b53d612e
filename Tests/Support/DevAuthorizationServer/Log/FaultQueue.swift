import Synchronization

/// Faults that wait for their requests. The first that matches is played, and leaves after its last time.
public final class FaultQueue: Sendable {
    private let faults = Mutex<[Fault]>([])

    init() {}

    public var pending: [Fault] { faults.withLock { $0 } }

    public func add(_ fault: Fault) { faults.withLock { $0.append(fault) } }

    /// Takes away those that wait for requests of this user.
    public func removeAll(user: String) { faults.withLock { $0.removeAll { $0.user == user } } }

    public func removeAll() { faults.withLock { $0 = [] } }

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
