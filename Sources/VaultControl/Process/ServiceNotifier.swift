import Platform

/// Reports the service's state to systemd: a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
struct ServiceNotifier: Sendable {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// How long, in seconds, systemd's full queue may block the service.
    private static let timeLimit = 5

    private let address: DatagramAddress
    /// How often systemd expects a sign of life; nil if it does not.
    let watchdogInterval: Duration?

    /// Nil if systemd, or a replacement, has not asked for it.
    init?(_ environment: [String: String]) {
        guard let address = environment["NOTIFY_SOCKET"].flatMap(DatagramAddress.init) else { return nil }
        self.address = address
        watchdogInterval = Self.interval(environment)
    }

    /// Half of the time after which systemd would consider the service dead.
    private static func interval(_ environment: [String: String]) -> Duration? {
        guard let limit = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), limit > 0 else { return nil }
        if let process = environment["WATCHDOG_PID"], process != ProcessID.current.description { return nil }
        return .microseconds(limit / 2)
    }

    /// A failure is not an error: systemd then uses the last report.
    @discardableResult
    func send(_ state: State) -> Bool {
        address.send(Array(state.rawValue.utf8), timeLimit: Self.timeLimit)
    }

    /// Reports repeatedly, until cancelled, that tasks of this process still run. The task is independent of its
    /// creator: a service that stops is alive while it finishes its work.
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
