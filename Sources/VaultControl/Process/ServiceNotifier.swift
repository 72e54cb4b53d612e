import Glibc

/// Reports the service's state to systemd: a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
struct ServiceNotifier: Sendable {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// How long, in seconds, systemd's full queue may block the service.
    private static let patience = 5

    private let path: [UInt8]
    /// How often systemd expects a sign of life; nil if it does not.
    let watchdogInterval: Duration?

    /// Nil if systemd, or a replacement, has not asked for it.
    init?(_ environment: [String: String]) {
        guard let socket = environment["NOTIFY_SOCKET"] else { return nil }
        var path = Array(socket.utf8)
        // An address in the abstract namespace begins with a zero byte, which no variable can hold.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard let first = path.first, first == 0 || first == UInt8(ascii: "/"),
            path.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.path = path
        watchdogInterval = Self.interval(environment)
    }

    /// Half of the time after which systemd would consider the service dead.
    private static func interval(_ environment: [String: String]) -> Duration? {
        guard let limit = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), limit > 0 else { return nil }
        if let process = environment["WATCHDOG_PID"], process != String(getpid()) { return nil }
        return .microseconds(limit / 2)
    }

    /// A failure is not an error: systemd then uses the last report.
    @discardableResult
    func send(_ state: State) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let message = Array(state.rawValue.utf8)
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), address, length)
            }
        } == message.count
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
