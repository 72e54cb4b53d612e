import CFaultVFS
import Foundation
import Synchronization

/// Places in one request to a server, in their order.
enum Seam: String, CaseIterable, Sendable {
    /// The engine has given the request to its transport; nothing is connected.
    case beforeSend
    case connected
    /// The last byte of the request has left the process and the server has none of it.
    case requestRead
    /// The server has one half of the request.
    case requestHalf
    /// The server has all of it.
    case requestSent
    /// The server has acted.
    case replyBegun
    /// The reply is there; the process has none of it.
    case replyRead
    /// The process has the reply's head.
    case replyHead
    case replyHalf
    case replyDelivered
    /// The transport has given the reply to the engine; nothing is stored.
    case afterSend
}

/// Kills or stops this process at one place, as a test has asked.
final class Striker: Sendable {
    private let seam: Seam?
    private let request: Int
    private let stops: Bool
    private let requests = Mutex(0)
    /// How many writes and syncs of SQLite's pass before one is struck; 0: none is.
    private let operation: Int
    private let isAfter: Bool

    init(_ options: Options) {
        seam = options.text("seam").flatMap { Seam(rawValue: $0) }
        request = options.integer("request", or: 1)
        stops = options.text("how") == "stop"
        operation = options.integer("operation", or: 0)
        isAfter = options.text("when") == "after"
    }

    static let operations: UInt32 =
        FAULT_WRITE.rawValue | FAULT_SYNC.rawValue | FAULT_TRUNCATE.rawValue | FAULT_DELETE.rawValue

    /// Before the vault is opened.
    static func register() {
        guard fault_vfs_register() == 0 else { return say("error vfs") }
    }

    /// From here on SQLite's operations count.
    func arm() {
        var plan = fault_plan(
            operations: Self.operations, files: FAULT_ANY_FILE.rawValue,
            first: operation == 0 ? .max : UInt64(operation), count: 1,
            action: isAfter ? FAULT_KILL_AFTER : FAULT_KILL_BEFORE, code: 0)
        if stops {
            plan.action = FAULT_CALL
            unsafe fault_vfs_on_call({ _ in Striker.stop() }, nil)
        }
        unsafe fault_vfs_arm(&plan)
    }

    /// The disk fails from here on: every write to a database or a WAL, for a time or for ever.
    func failWrites(_ count: Int) {
        var plan = fault_plan(
            operations: FAULT_WRITE.rawValue, files: FAULT_ANY_FILE.rawValue, first: 1, count: UInt64(count),
            action: FAULT_FAIL, code: 13)
        unsafe fault_vfs_arm(&plan)
    }

    /// Files end here: whoever writes at or behind this byte of any file dies of it.
    func limitFiles(to bytes: Int) {
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t.max)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
            return say("error limit")
        }
        // Threads of pools keep the signal from themselves, and it waits for them for ever.
        Thread.detachNewThread {
            while !Self.isSignalPending(SIGXFSZ) { usleep(100) }
            self.strike()
        }
    }

    private static func isSignalPending(_ signal: Int32) -> Bool {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.contains { task in
            guard
                let text = FileManager.default.contents(atPath: "/proc/self/task/\(task)/status").map({
                    String(decoding: $0, as: UTF8.self)
                }), let line = text.split(separator: "\n").first(where: { $0.hasPrefix("SigPnd:") }),
                let mask = line.split(separator: "\t").last.flatMap({ UInt64($0, radix: 16) })
            else { return false }
            return mask & (1 << UInt64(signal - 1)) != 0
        }
    }

    /// One more request begins. Gives its number.
    func beginRequest() -> Int {
        requests.withLock { count in
            count += 1
            return count
        }
    }

    func reach(_ place: Seam, of number: Int) {
        guard place == seam, number == request else { return }
        strike()
    }

    func strike() {
        if stops { Self.stop() } else { kill(getpid(), SIGKILL) }
    }

    /// Sent to the process, it would reach the main thread first, and this one would go on for a moment.
    static func stop() { _ = pthread_kill(pthread_self(), SIGSTOP) }
}
