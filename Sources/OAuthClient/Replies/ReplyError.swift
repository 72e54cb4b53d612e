/// The error of a reply, as far as it can be read.
enum ReplyError {
    case none
    case code(OAuthErrorCode)
    /// The reply says that something is wrong, in no way that can be matched.
    case unreadable

    init(_ body: ReplyBody, _ rules: ReplyRules) {
        let errors = rules.errorMembers.flatMap { body.fields(at: $0) }.compactMap { Self.read($0) }
        // Some servers say in one member what they mean and in another what the RFC wants to hear: the one that is
        // understood counts.
        let understood = errors.first { error in
            guard case .code(let code) = error else { return false }
            return rules.meaning(of: code, in: body) != nil
        }
        self = understood ?? errors.first ?? (Self.succeeded(body, rules) ? .none : .unreadable)
    }

    /// Nil if there is no such member.
    private static func read(_ field: ReplyField) -> ReplyError? {
        switch field {
        case .text(let text): OAuthErrorCode(text).map { .code($0) } ?? .unreadable
        // What numbers its errors numbers its successes as well.
        case .number("0"): nil
        case .number(let text): OAuthErrorCode(text).map { .code($0) } ?? .unreadable
        case .absent: nil
        default: .unreadable
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
    /// What a code means to this provider; nil if it is unknown. Codes are matched letter by letter.
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
        .invalidClient: .clientRefused,
        .unsupportedGrantType: .clientRefused,
        // Also said of one tenant that has not let the client in.
        .unauthorizedClient: .misconfigured,
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
