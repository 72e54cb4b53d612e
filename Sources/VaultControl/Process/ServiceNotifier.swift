import Platform

/// Reports to systemd how the service is: a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
struct ServiceNotifier: Sendable {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// How long a full queue of systemd's may hold up the service.
    private static let patience = 5

    private let address: DatagramAddress
    /// How often systemd wants to hear that the service is alive: nil if it does not.
    let watchdogInterval: Duration?

    /// Nil where systemd, or what stands in for it, has not asked.
    init?(_ environment: [String: String]) {
        guard let address = environment["NOTIFY_SOCKET"].flatMap(DatagramAddress.init) else { return nil }
        self.address = address
        watchdogInterval = Self.interval(environment)
    }

    /// Half of the time after which systemd would give the service up.
    private static func interval(_ environment: [String: String]) -> Duration? {
        guard let limit = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), limit > 0 else { return nil }
        if let process = environment["WATCHDOG_PID"], process != ProcessID.current.description { return nil }
        return .microseconds(limit / 2)
    }

    /// Failing is not an error: systemd then decides by what it has heard.
    @discardableResult
    func send(_ state: State) -> Bool {
        address.send(Array(state.rawValue.utf8), patience: Self.patience)
    }

    /// Reports again and again that tasks of this process still get to run; until cancelled. The task is none of its
    /// creator's: a service that stops is alive while it finishes its work.
    func keepAlive() -> Task<Void, Never>? {
        guard let watchdogInterval else { return nil }
        return Task {
            while !Task.isCancelled {
                send(.alive)
                try? await Task.sleep(for: watchdogInterval)
            }
        }
    }
}
