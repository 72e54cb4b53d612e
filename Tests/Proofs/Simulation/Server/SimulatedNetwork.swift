import HTTPTypes
import OAuthClient
import TokenVaultTesting

/// What becomes of one exchange.
enum Fate: String, CaseIterable {
    case good
    /// Nothing was sent.
    case unreachable
    /// The request is lost on its way.
    case lostBefore
    /// The server has acted, and its reply is lost.
    case lostAfter
    case truncated
    /// The server has acted, and then fails.
    case failedAfter
    case failedBefore
    /// The client's time runs out; then the request arrives.
    case late
    /// The server has acted, and the reply takes longer than the client waits.
    case slowReply
    case clientRefused
    case throttled
    /// A refresh token without an access token.
    case partial
    /// The request is on its way for seconds; then the server acts, and the reply comes.
    case slowRequest

    /// In worlds without schedulers, whose seeds mean what they did before there was the last one.
    static let usual = allCases.filter { $0 != .slowRequest }
}

/// Carries the requests of one process. What happens to them is the world's.
final class SimulatedTransport: HTTPTransport, @unchecked Sendable {
    unowned let world: World
    let process: Int

    init(_ world: World, process: Int) {
        self.world = world
        self.process = process
    }

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        let form = ScriptedTransport.SentRequest(request: request, body: body).form
        let result = await withCheckedContinuation { continuation in
            world.sent(Exchange(process: process, request: request, form: form) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }
}

/// One request on its way, and who waits for the reply.
final class Exchange: @unchecked Sendable {
    let process: Int
    let request: HTTPRequest
    let form: [String: String]
    /// Whether an earlier request with the same token may have arrived.
    var wasUnsure = false
    private var answer: ((Result<HTTPReply, HTTPTransportError>) -> Void)?

    init(
        process: Int, request: HTTPRequest, form: [String: String],
        _ answer: @escaping (Result<HTTPReply, HTTPTransportError>) -> Void
    ) {
        self.process = process
        self.request = request
        self.form = form
        self.answer = answer
    }

    var refreshToken: String? { form["refresh_token"] }
    /// Whether somebody waits still.
    var isOpen: Bool { answer != nil }

    func end(_ result: Result<HTTPReply, HTTPTransportError>) {
        let answer = answer
        self.answer = nil
        answer?(result)
    }
}
