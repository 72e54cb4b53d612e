/// The error of a reply, as far as it can be read.
enum ReplyError {
    case none
    case code(OAuthErrorCode)
    /// The reply reports an error in a form that cannot be matched.
    case unreadable

    init(_ body: ReplyBody, _ rules: ReplyRules) {
        let errors = rules.errorMembers.flatMap { name in
            // RFC 6749 §5.2: text. A number there is no code, unless the profile knows it.
            body.fields(at: name).compactMap { field in
                let error = Self.read(field)
                guard name == "error", case .number = field, case .code(let code)? = error, !rules.names(code) else {
                    return error
                }
                return .unreadable
            }
        }
        // Some servers put their own code in one member and the RFC's code in another: the one that is understood
        // counts.
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
        // Servers with numeric error codes also number success.
        case .number("0"): nil
        case .number(let text): OAuthErrorCode(text).map { .code($0) } ?? .unreadable
        case .absent: nil
        default: .unreadable
        }
    }

    private static func succeeded(_ body: ReplyBody, _ rules: ReplyRules) -> Bool {
        guard let member = rules.successMember else { return true }
        return switch body[member.name] {
        case .flag(let flag): member.value == String(flag)
        case .text(let text), .number(let text): member.value == text
        default: false
        }
    }
}

extension ReplyRules {
    /// The meaning of a code at this provider; nil if it is unknown. Codes are case-sensitive.
    func meaning(of code: OAuthErrorCode, in body: ReplyBody) -> Meaning? {
        let meaning = meanings[code.rawValue] ?? Self.registered[code]
        if meaning == .dead || meaning == .deadByProfile, let suberror = body["suberror"].text,
            needsUserSuberrors.contains(suberror)
        {
            return .needsUser
        }
        return meaning
    }

    /// Whether the code has a meaning at this provider.
    func names(_ code: OAuthErrorCode) -> Bool { meanings[code.rawValue] != nil || Self.registered[code] != nil }

    private static let registered: [OAuthErrorCode: Meaning] = [
        .invalidGrant: .dead,
        .invalidClient: .clientRefused,
        .unsupportedGrantType: .clientRefused,
        // Also sent for a single tenant that has not admitted the client.
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
