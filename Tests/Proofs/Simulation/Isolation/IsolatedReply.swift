import HTTPTypes
import OAuthClient

/// What a provider may say to one login.
struct IsolatedReply {
    private enum Kind {
        case reply(Int, String, [(HTTPField.Name, String)])
        case failure(HTTPTransportError)
        /// A new refresh token without an access token.
        case successor
        /// The token that was sent, with a refusal.
        case echo
        /// An access token, and a next refresh token that cannot be sent.
        case lostSuccessor
    }

    private let kind: Kind

    static func ok(_ body: String) -> IsolatedReply { IsolatedReply(kind: .reply(200, body, [])) }

    static func error(
        _ code: String, status: Int = 400, _ fields: [(HTTPField.Name, String)] = []
    ) -> IsolatedReply {
        IsolatedReply(kind: .reply(status, #"{"error":"\#(code)"}"#, fields))
    }

    /// Every code but those that are about the client: `invalid_client` and `unsupported_grant_type`.
    private static let codes = [
        "invalid_grant", "invalid_request", "unauthorized_client", "invalid_scope", "invalid_target",
        "interaction_required", "consent_required", "temporarily_unavailable", "slow_down", "use_dpop_nonce",
        "invalid_dpop_proof", "access_denied", "gone", "ask_user", "wrong_tenant", "later", "nobody_knows",
    ]

    private static let statuses = [
        301, 400, 401, 403, 404, 405, 408, 409, 418, 429, 451, 500, 501, 502, 503, 504, 599,
    ]

    private static let bodies = [
        "", "<html>blocked</html>", "{", "[]", #"{"access_token":""}"#, #"{"access_token":"a","token_type":"mac"}"#,
        #"{"error":"invalid_grant","access_token":"a","token_type":"Bearer"}"#,
    ]

    static func draw(_ random: inout SeededRandom) -> IsolatedReply {
        let waits: [(HTTPField.Name, String)] =
            random.chance(30) ? [(.retryAfter, random.pick(["1", "30", "3600", "999999999", "rubbish"]))] : []
        switch random.below(10) {
        case 0...3: return error(random.pick(codes), status: random.pick([200, 400, 400, 401, 403]), waits)
        case 4, 5: return IsolatedReply(kind: .reply(random.pick(statuses), random.pick(bodies), waits))
        case 6: return IsolatedReply(kind: .reply(200, random.pick(bodies), waits))
        case 7:
            let codes: [HTTPTransportError.Code] = [
                .connect, .dns, .tls, .timeout, .reset, .tooLarge, .protocolViolation,
            ]
            return IsolatedReply(
                kind: .failure(HTTPTransportError(random.chance(50) ? .notSent : .maybeSent, random.pick(codes))))
        default: return IsolatedReply(kind: random.pick([.successor, .echo, .lostSuccessor]))
        }
    }

    /// As it stands, where it does not depend on what was sent.
    var reply: HTTPReply {
        guard case .reply(let status, let body, let fields) = kind else { return Self.made(200, "") }
        return Self.made(status, body, fields)
    }

    func result(successor: String, sent: String) -> Result<HTTPReply, HTTPTransportError> {
        switch kind {
        case .reply: .success(reply)
        case .failure(let error): .failure(error)
        case .successor: .success(Self.made(200, #"{"refresh_token":"\#(successor)","token_type":"Bearer"}"#))
        case .echo: .success(Self.made(200, #"{"error":"invalid_grant","refresh_token":"\#(sent)"}"#))
        case .lostSuccessor:
            .success(
                Self.made(200, #"{"access_token":"a","token_type":"Bearer","expires_in":60,"refresh_token":[1]}"#))
        }
    }

    private static func made(
        _ status: Int, _ body: String, _ fields: [(HTTPField.Name, String)] = []
    ) -> HTTPReply {
        var all = HTTPFields()
        for (name, value) in fields { all[name] = value }
        return HTTPReply(
            response: HTTPResponse(status: .init(code: status), headerFields: all), body: Array(body.utf8))
    }
}
