/// One process, what it was doing, at which server, and where it was struck.
struct CrashCase: Sendable, CustomStringConvertible {
    enum Action: String, CaseIterable, Sendable {
        case refresh, serve, login, add, logout, set, setChain, disable, erase, revoke, provider, open, recover
    }

    /// What the server does to the first request.
    enum Course: String, CaseIterable, Sendable {
        case answers
        /// Acts, and its reply is lost.
        case drops
        /// Does not even act.
        case ignores
    }

    enum Strike: Hashable, Sendable, CustomStringConvertible {
        case none
        /// Before the n-th write, sync, truncation or deletion of SQLite's.
        case operation(Int)
        case afterOperation(Int)
        /// A place on the way of the n-th request.
        case seam(String, Int)
        /// The vault takes no tokens, and the spool's file can be written up to this byte.
        case spool(Int)
        /// The vault takes no tokens; they are in the spool, and their caller has his.
        case served
        /// As before, and then the vault works again until the n-th operation.
        case unspooling(Int)

        var description: String {
            switch self {
            case .none: "nowhere"
            case .operation(let number): "before operation \(number)"
            case .afterOperation(let number): "after operation \(number)"
            case .seam(let name, let request): "at \(name) of request \(request)"
            case .spool(let bytes): "at byte \(bytes) of the spool"
            case .served: "after the spool"
            case .unspooling(let number): "at operation \(number) after the spool"
            }
        }

        /// For the process that is to be struck.
        func options(request: Int) -> [String: String] {
            switch self {
            case .none: [:]
            case .operation(let number): ["operation": "\(number)"]
            case .afterOperation(let number): ["operation": "\(number)", "when": "after"]
            case .seam(let name, let request): ["seam": name, "request": "\(request)"]
            case .spool(let bytes): ["failures": "0", "limit": "\(bytes)", "request": "\(request)"]
            case .served: ["failures": "0", "served": "strike", "request": "\(request)"]
            case .unspooling(let number):
                ["failures": "0", "served": "recovery", "operation": "\(number)", "request": "\(request)"]
            }
        }
    }

    var action: Action
    var behaviour: ServerBehaviour
    var course = Course.answers
    var strike = Strike.none

    var description: String { "\(action) at \(behaviour), which \(course), struck \(strike)" }

    /// The same place, whatever the server does.
    var point: String { "\(action) \(strike)" }

    static let seams = [
        "beforeSend", "connected", "requestRead", "requestHalf", "requestSent", "replyBegun", "replyRead", "replyHead",
        "replyHalf", "replyDelivered", "afterSend",
    ]

    /// The request that brings tokens, if nothing else goes wrong.
    var lastRequest: Int { course == .answers ? 1 : 2 }
}
