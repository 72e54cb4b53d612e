package import FoundationEssentials
import HTTPTypes

/// The result of one use of a refresh token or code, including its repeats for a proof or a scope.
package struct TokenAttempt: Sendable {
    package private(set) var outcome: TokenOutcome
    /// The latest nonce that a reply brought, by origin; keep it whatever the outcome.
    package let nonces: [String: DPoPNonce]
    /// Requests handed to the transport.
    package let requestsSent: Int
    /// The number of those that carried the refresh token or the code.
    package let grantsSent: Int
    /// How far the server's clock is ahead of ours, if its reply had a date and it is 2 seconds or more.
    package let clockOffset: Duration?
    /// When the last request began: the tokens' lifetimes count from then.
    package let startedAt: Date
    /// The OAuth error of the last reply, if it had one.
    package let errorReply: ErrorTokenResponse?
    /// The number of the client's secrets that were rejected before the one that the outcome is about.
    package internal(set) var refusedSecrets = 0

    private let reply: EndpointReply
    private let context: ClassificationContext

    init(
        outcome: TokenOutcome, nonces: [String: DPoPNonce], requestsSent: Int, grantsSent: Int,
        clockOffset: Duration?, errorReply: ErrorTokenResponse?, reply: EndpointReply,
        context: ClassificationContext
    ) {
        self.outcome = outcome
        self.nonces = nonces
        self.requestsSent = requestsSent
        self.grantsSent = grantsSent
        self.clockOffset = clockOffset
        self.startedAt = context.startedAt
        self.errorReply = errorReply
        self.reply = reply
        self.context = context
    }

    /// The same with other tokens, if there are any.
    func with(_ change: (inout IssuedTokens) -> Void) -> TokenAttempt {
        guard case .success(var tokens) = outcome else { return self }
        change(&tokens)
        var attempt = self
        attempt.outcome = .success(tokens)
        return attempt
    }

    /// The server's answer, if it rejected the request or cannot be used.
    ///
    /// - Parameter secrets: Secrets that were sent and must not be shown.
    package func answer(hiding secrets: [String]) -> ProviderAnswer? {
        let reply: HTTPReply
        switch self.reply {
        case .reply(let came): reply = came
        case .failure(let error):
            guard error.code != .cancelled else { return nil }
            return ProviderAnswer(status: nil, error: nil, message: nil, failure: error.code)
        }
        let status = reply.response.status.code
        guard errorReply != nil || !(200...299).contains(status) else {
            return Self.fault(of: reply, outcome).map {
                ProviderAnswer(status: status, error: nil, message: ServerMessage($0), hiding: secrets)
            }
        }
        return ProviderAnswer(
            status: status, error: errorReply?.error, message: errorReply?.errorDescription,
            location: (300...399).contains(status) ? reply.response.headerFields[.location] : nil, hiding: secrets)
    }

    /// What came in place of tokens.
    private static func fault(of reply: HTTPReply, _ outcome: TokenOutcome) -> String? {
        let body = ReplyBody(reply, format: .automatic)
        switch outcome {
        case .misconfigured(.wrongTokenType): return tokenType(in: body)
        case .partial(let tokens) where tokens.cause == .wrongTokenType: return tokenType(in: body)
        case .partial(let tokens) where tokens.cause == .unusableAccessToken:
            return "a reply without a usable access token"
        case .inDoubt(.unreadableBody), .inDoubt(.unusableTokens):
            if body.isEmpty { return "an empty reply" }
            return reply.body.isWebPage ? "a web page (HTML)" : "a reply without a usable access token"
        case .transient(let failure) where failure.cause == .unclassifiedError:
            return "an error in another form than OAuth's"
        default: return nil
        }
    }

    private static func tokenType(in body: ReplyBody) -> String {
        guard let type = body["token_type"].text else { return "a token without a type" }
        // A longer one may be a token in the wrong member.
        return type.utf8.count <= 8 ? "a token of the type \(type)" : "a token of an unknown type"
    }

    /// The unusable reply, if it may hold the next refresh token.
    package var doubtfulReply: DoubtfulReply? { DoubtfulReply(reply, outcome, leavesDoubt: leavesDoubt) }

    /// Whether the refresh token that was sent may be spent although the chain did not advance.
    package var leavesDoubt: Bool {
        switch outcome {
        case .success(let tokens): tokens.hasLostSuccessor
        case .partial, .dead: false
        case .inDoubt: true
        case .transient(let failure): failure.keepsDoubt
        // No time was left for the repeat, and some servers spend the token before they ask for a nonce.
        case .nonceRequired: true
        case .misconfigured, .needsUser, .invalidProof, .scopeRefused: context.hasDoubt
        }
    }
}
