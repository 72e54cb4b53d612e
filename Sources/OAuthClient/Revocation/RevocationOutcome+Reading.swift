import FoundationEssentials
import HTTPTypes

extension RevocationOutcome {
    /// Reads the reply to one revocation (RFC 7009 §2.2). Only a 200 ends a token.
    init(_ exchange: TokenExchange, _ rules: ReplyRules, now: Date) {
        guard case .reply(let reply) = exchange else {
            self = .tryLater(retryAfter: nil)
            return
        }
        let status = reply.response.status.code
        if status == 200 {
            self = .revoked
            return
        }
        let delay = RetryAfter.delay(in: reply.response, now: now)
        let body = ReplyBody(reply, format: .automatic)
        guard (400...499).contains(status), status != 429, !RetryAfter.isPresent(in: reply.response),
            case .code(let code) = ReplyError(body, rules)
        else {
            self = .tryLater(retryAfter: delay)
            return
        }
        switch (code, rules.meaning(of: code, in: body)) {
        case (.unsupportedTokenType, _): self = .unsupportedTokenType
        case (_, .misconfigured), (_, .invalidProof): self = .misconfigured(code)
        default: self = .tryLater(retryAfter: delay)
        }
    }
}
