package import HTTPTypes

/// A reply, or a part of one, that leaves it unknown whether the refresh token was spent. It may hold the only copy of
/// the next one, so it is kept unchanged.
package struct DoubtfulReply: Sendable {
    package let response: HTTPResponse
    package let body: [UInt8]
    /// Whether the body is complete, as far as is known.
    package let isComplete: Bool
    /// Why it was not usable. Not text from the server.
    package let cause: String

    /// Nil if nothing in it is worth keeping.
    init?(_ received: EndpointReply, _ outcome: TokenOutcome, leavesDoubt: Bool) {
        let reply: HTTPReply
        switch received {
        case .reply(let whole):
            reply = whole
            isComplete = true
        case .failure(let error):
            guard let received = error.received else { return nil }
            reply = received
            isComplete = false
        }
        guard leavesDoubt, !reply.body.isEmpty else { return nil }
        switch outcome {
        case .inDoubt(let doubt): cause = doubt.words
        case .success: cause = "its refresh token cannot be sent"
        // Error pages of unavailable gateways are frequent, and contain no tokens.
        case .transient(let failure) where SalvagedTokens.mayBe(in: reply.body): cause = failure.cause.words
        default: return nil
        }
        response = reply.response
        body = reply.body
    }
}

extension DoubtCause {
    fileprivate var words: String {
        switch self {
        case .transport(let code): code.words
        case .unreadableBody: "the body cannot be read"
        case .unusableTokens: "there is no usable token in it"
        case .contradictory: "it has both an error and tokens"
        case .identityChanged: "its id token names another subject"
        case .unexpectedStatus: "no final reply has this status"
        }
    }
}

extension TransientCause {
    fileprivate var words: String {
        switch self {
        case .serverError: "the server failed"
        case .redirect: "it redirects"
        case .throttled: "it asks to wait"
        default: "it reports an error"
        }
    }
}
