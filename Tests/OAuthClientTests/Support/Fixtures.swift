import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import Testing

/// Every secret of these tests, so that a leak is found by searching for it.
let marker = "CANARY"

enum Sample {
    static let access = "access-CANARY-1"
    static let refresh = "refresh-CANARY-2"
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    static func endpoint(_ text: String = "https://server.example.com/token") throws -> EndpointURL {
        try EndpointURL(text)
    }

    static func binding(
        _ authentication: ClientAuthentication = .none, rules: ReplyRules = .rfc
    ) throws -> ServerBinding {
        ServerBinding(
            tokenEndpoint: try endpoint(), clientID: try ClientID("client"), authentication: authentication,
            rules: rules)
    }

    static func exchange(scope: Scope? = nil, dpop: DPoPContext? = nil) throws -> RefreshRequest {
        RefreshRequest(refreshToken: try RefreshToken("sent-CANARY-0"), scope: scope, dpop: dpop)
    }

    /// A good reply, with members replaced or added; a value of nil leaves a member out.
    static func good(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "access_token": "\"\(access)\"", "token_type": "\"Bearer\"", "expires_in": "3600",
            "refresh_token": "\"\(refresh)\"",
        ]
        members.merge(changes) { $1 }
        let pairs = members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    static func error(_ code: String) -> String { "{\"error\":\"\(code)\"}" }
}

func reply(_ status: Int, _ body: String = "", _ fields: [(String, String)] = []) -> HTTPReply {
    reply(status, bytes: Array(body.utf8), fields)
}

func reply(_ status: Int, bytes: [UInt8], _ fields: [(String, String)] = []) -> HTTPReply {
    var headers = HTTPFields()
    for (name, value) in fields {
        if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
    }
    return HTTPReply(response: HTTPResponse(status: .init(code: status), headerFields: headers), body: bytes)
}

/// Plays replies in order and keeps what was sent.
final class ScriptedTransport: HTTPTransport {
    struct Sent: Sendable {
        let request: HTTPRequest
        let body: [UInt8]
        let limits: HTTPLimits

        var form: [String: String] {
            let parameters = FormCodec.decode(body) ?? []
            return Dictionary(parameters.map { ($0.name, $0.value) }) { _, _ in "given twice" }
        }
    }

    enum Step: Sendable {
        case reply(HTTPReply)
        case failure(HTTPTransportError)
        /// Answers after something else has happened.
        case after(@Sendable () async -> Void, HTTPReply)
    }

    private let state: Mutex<(steps: [Step], sent: [Sent])>

    init(_ steps: [Step]) {
        state = Mutex((steps, []))
    }

    convenience init(_ replies: HTTPReply...) {
        self.init(replies.map(Step.reply))
    }

    var sent: [Sent] { state.withLock { $0.sent } }

    func send(_ request: HTTPRequest, body: [UInt8], limits: HTTPLimits) async throws(HTTPTransportError) -> HTTPReply {
        let sent = Sent(request: request, body: body, limits: limits)
        let step: Step? = state.withLock { state in
            state.sent.append(sent)
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        switch step {
        case nil: throw HTTPTransportError(.notSent, .refused)
        case .reply(let reply)?: return reply
        case .failure(let error)?: throw error
        case .after(let work, let reply)?:
            await work()
            return reply
        }
    }
}
