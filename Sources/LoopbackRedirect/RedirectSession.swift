import NIOHTTP1
import OAuthClient

/// Decides the response to each request at the listener; does no I/O.
struct RedirectSession {
    enum Phase {
        /// The port is open so that its number is known; no log-in has begun.
        case idle
        case waiting(AuthorizationState)
        /// The only answer has arrived, from the browser or another way.
        case taken
    }

    enum Step {
        case page(RedirectPage)
        /// Redirect the opened browser to the log-in.
        case start(String)
        /// The answer to the log-in. The browser is redirected immediately, so that the code leaves the address bar and
        /// the tab's history without any script.
        case accept(LoopbackCallback)
        /// Hold the request until the result of the log-in is known.
        case result
    }

    let path: String
    /// Hard to guess: its page is for the browser that brought the answer.
    let resultPath: String
    /// Hard to guess: it redirects to the log-in.
    let startPath: String
    /// The target of the redirect; nil before the log-in has begun.
    var destination: String?
    /// The allowed values of the `Host` field. A page on another site whose name resolves to this machine sends another
    /// one.
    let authorities: Set<String>
    private(set) var phase = Phase.idle

    init(path: String, resultPath: String, startPath: String, authorities: Set<String>) {
        self.path = path.isEmpty ? "/" : path
        self.startPath = startPath
        self.resultPath = resultPath
        self.authorities = authorities
    }

    mutating func expect(_ state: AuthorizationState) {
        phase = .waiting(state)
    }

    mutating func close() {
        phase = .taken
    }

    mutating func receive(_ head: HTTPRequestHead) -> Step {
        let hosts = head.headers["host"]
        guard hosts.count == 1, authorities.contains(hosts[0].lowercased()) else { return .page(.wrongHost) }
        let mark = head.uri.firstIndex(of: "?") ?? head.uri.endIndex
        switch head.uri[..<mark] {
        case resultPath[...]: return head.method == .GET ? .result : .page(.wrongMethod)
        case startPath[...]: return head.method == .GET ? start() : .page(.wrongMethod)
        case path[...]: return head.method == .GET ? callback(head.uri) : .page(.wrongMethod)
        default: return .page(.nothingHere)
        }
    }

    private func start() -> Step {
        if case .taken = phase { return .page(.answeredBefore) }
        return destination.map { .start($0) } ?? .page(.nothingHere)
    }

    /// Only the answer with the right state ends the wait.
    private mutating func callback(_ target: String) -> Step {
        switch phase {
        case .idle: return .page(.nothingHere)
        case .taken: return .page(.answeredBefore)
        case .waiting(let state):
            guard let callback = LoopbackCallback(target), callback.answers(state) else {
                return .page(.notThisLogIn)
            }
            phase = .taken
            return .accept(callback)
        }
    }
}
