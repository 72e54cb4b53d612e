package import FoundationEssentials
import HTTPTypes

/// The introspection endpoint of one provider (RFC 7662), used only to ask when an access token expires.
package struct IntrospectionEndpoint: Sendable {
    private let endpoint: EndpointURL
    private let sender: EndpointSender

    package init(
        endpoint: EndpointURL, binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date
    ) {
        self.endpoint = endpoint
        sender = EndpointSender(binding: binding, transport: transport, now: now)
    }

    package func introspect(_ token: AccessToken) async -> IntrospectionOutcome {
        let parameters = [
            FormParameter("token", token.reveal()), FormParameter("token_type_hint", "access_token"),
        ]
        var session = ProofSession(nil)
        let startedAt = sender.now()
        guard
            let form = try? FormRequest(
                endpoint, parameters, extra: [], binding: sender.binding, proof: nil, issuedAt: startedAt),
            case .reply(let reply) = await sender.send(form, to: endpoint, &session, startedAt: startedAt).reply
        else { return .unknown }
        return IntrospectionOutcome(reply)
    }
}

/// A server's answer about an access token.
package enum IntrospectionOutcome: Hashable, Sendable {
    /// The token is valid; until when, if the server says so.
    case active(expiresAt: Date?)
    /// The token is invalid: expired, revoked, or not this server's.
    case inactive
    /// No answer, or an unreadable one.
    case unknown

    init(_ reply: HTTPReply) {
        let body = ReplyBody(reply, format: .json)
        guard reply.response.status.code == 200, case .flag(let isActive) = body["active"] else {
            self = .unknown
            return
        }
        guard isActive else {
            self = .inactive
            return
        }
        let text: String? = if case .number(let text) = body["exp"] { text } else { body["exp"].text }
        // The same bounds as for a lifetime: an instant in the far future is ignored.
        let seconds = text.flatMap(Double.init).flatMap { $0.isFinite && $0 > 0 && $0 < 32_503_680_000 ? $0 : nil }
        self = .active(expiresAt: seconds.map { Date(timeIntervalSince1970: $0) })
    }
}
