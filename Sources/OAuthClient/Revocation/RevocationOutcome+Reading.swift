import FoundationEssentials
import HTTPTypes

extension RevocationOutcome {
    /// Reads the reply to one revocation (RFC 7009 §2.2). Only a 200 ends a token, unless the profile says otherwise.
    init(_ reply: EndpointReply, _ rules: ReplyRules, _ style: ProviderProfile.RevocationRules = .init(), now: Date) {
        guard case .reply(let reply) = reply else {
            self = .tryLater(retryAfter: nil)
            return
        }
        let status = reply.response.status.code
        let delay = RetryAfter.delay(in: reply.response, now: now)
        let body = ReplyBody(reply, format: .automatic)
        if style.doneStatuses.contains(status) {
            // A server that reports errors in its bodies also does so here.
            self = rules.successMember == nil ? .revoked : Self.told(body, rules, style, delay)
            return
        }
        guard (400...499).contains(status), status != 429, !RetryAfter.isPresent(in: reply.response),
            case .code(let code) = ReplyError(body, rules)
        else {
            // RFC 6749 §5.2 reserves this status for a rejected client.
            let isRefusal = status == 401 && delay == nil && body.isEmpty
            self = isRefusal ? .misconfigured(nil) : .tryLater(retryAfter: delay)
            return
        }
        if style.doneCodes.contains(code.rawValue) {
            self = .revoked
            return
        }
        switch (code, rules.meaning(of: code, in: body)) {
        case (.unsupportedTokenType, _): self = .unsupportedTokenType
        case (_, .clientRefused), (_, .misconfigured), (_, .invalidProof): self = .misconfigured(code)
        default: self = .tryLater(retryAfter: delay)
        }
    }

    /// A code that ends a login does not prove that the grant ended: an expired access token is rejected while the
    /// grant lives on. So only the profile's own codes count as done.
    private static func told(
        _ body: ReplyBody, _ rules: ReplyRules, _ style: ProviderProfile.RevocationRules, _ delay: Duration?
    ) -> RevocationOutcome {
        switch ReplyError(body, rules) {
        case .none: return .revoked
        case .unreadable: return .tryLater(retryAfter: delay)
        case .code(let code) where style.doneCodes.contains(code.rawValue): return .revoked
        case .code(let code):
            switch rules.meaning(of: code, in: body) {
            case .clientRefused, .misconfigured: return .misconfigured(code)
            default: return .tryLater(retryAfter: delay)
            }
        }
    }
}
