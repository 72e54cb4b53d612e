/// The error of a reply, as far as it can be told.
enum ReplyError {
    case none
    case code(OAuthErrorCode)
    /// The reply says that something is wrong, in no way that can be matched.
    case unreadable

    init(_ body: ReplyBody, _ rules: ReplyRules) {
        switch body["error"] {
        case .text(let text): self = OAuthErrorCode(text).map { .code($0) } ?? .unreadable
        case .absent: self = Self.succeeded(body, rules) ? .none : .unreadable
        default: self = .unreadable
        }
    }

    private static func succeeded(_ body: ReplyBody, _ rules: ReplyRules) -> Bool {
        guard let member = rules.successMember else { return true }
        return switch body[member] {
        case .flag(let flag): flag
        case .text(let text): text == "true"
        default: false
        }
    }
}

extension ReplyRules {
    /// What a code means to this provider; nil if nobody knows it. Codes are matched letter by letter.
    func meaning(of code: OAuthErrorCode, in body: ReplyBody) -> Meaning? {
        let meaning = meanings[code.rawValue] ?? Self.registered[code]
        if meaning == .dead || meaning == .deadByProfile, let suberror = body["suberror"].text,
            needsUserSuberrors.contains(suberror)
        {
            return .needsUser
        }
        return meaning
    }

    private static let registered: [OAuthErrorCode: Meaning] = [
        .invalidGrant: .dead,
        .invalidClient: .misconfigured,
        .unauthorizedClient: .misconfigured,
        .unsupportedGrantType: .misconfigured,
        .invalidRequest: .misconfigured,
        .invalidTarget: .misconfigured,
        .invalidScope: .scopeRefused,
        .interactionRequired: .needsUser,
        .loginRequired: .needsUser,
        .consentRequired: .needsUser,
        .accountSelectionRequired: .needsUser,
        .insufficientUserAuthentication: .needsUser,
        .temporarilyUnavailable: .temporary,
        .serverError: .temporary,
        .slowDown: .temporary,
        .useDPoPNonce: .nonceRequired,
        .invalidDPoPProof: .invalidProof,
    ]
}
