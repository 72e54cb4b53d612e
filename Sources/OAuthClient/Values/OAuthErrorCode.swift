/// The `error` of a reply (RFC 6749 §5.2 and the registry that it established).
public struct OAuthErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// As the server spelled it. A hostile server may put anything printable here: do not log it.
    public let rawValue: String

    /// `1*NQSCHAR` (RFC 6749 Appendix A.7), at most 128 characters; nil for anything else.
    public init?(_ rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.count <= 128,
            rawValue.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        self.rawValue = rawValue
    }

    private init(known rawValue: String) {
        self.rawValue = rawValue
    }

    public static let invalidRequest = OAuthErrorCode(known: "invalid_request")
    public static let invalidClient = OAuthErrorCode(known: "invalid_client")
    public static let invalidGrant = OAuthErrorCode(known: "invalid_grant")
    public static let unauthorizedClient = OAuthErrorCode(known: "unauthorized_client")
    public static let unsupportedGrantType = OAuthErrorCode(known: "unsupported_grant_type")
    public static let invalidScope = OAuthErrorCode(known: "invalid_scope")
    /// RFC 6749 §4.1.2.1: at the authorization endpoint.
    public static let accessDenied = OAuthErrorCode(known: "access_denied")
    public static let unsupportedResponseType = OAuthErrorCode(known: "unsupported_response_type")
    public static let serverError = OAuthErrorCode(known: "server_error")
    public static let temporarilyUnavailable = OAuthErrorCode(known: "temporarily_unavailable")
    /// RFC 8628 §3.5.
    public static let slowDown = OAuthErrorCode(known: "slow_down")
    public static let authorizationPending = OAuthErrorCode(known: "authorization_pending")
    public static let expiredToken = OAuthErrorCode(known: "expired_token")
    /// RFC 8707 §2.
    public static let invalidTarget = OAuthErrorCode(known: "invalid_target")
    /// RFC 7009 §2.2.1.
    public static let unsupportedTokenType = OAuthErrorCode(known: "unsupported_token_type")
    /// RFC 6750 §3.1: at a resource server.
    public static let invalidToken = OAuthErrorCode(known: "invalid_token")
    /// RFC 9449 §8.
    public static let useDPoPNonce = OAuthErrorCode(known: "use_dpop_nonce")
    /// RFC 9449 §5.
    public static let invalidDPoPProof = OAuthErrorCode(known: "invalid_dpop_proof")
    /// OpenID Connect Core §3.1.2.6.
    public static let interactionRequired = OAuthErrorCode(known: "interaction_required")
    public static let loginRequired = OAuthErrorCode(known: "login_required")
    public static let consentRequired = OAuthErrorCode(known: "consent_required")
    public static let accountSelectionRequired = OAuthErrorCode(known: "account_selection_required")
    /// RFC 9470 §3.
    public static let insufficientUserAuthentication = OAuthErrorCode(known: "insufficient_user_authentication")
    public static let insufficientScope = OAuthErrorCode(known: "insufficient_scope")

    private static let printable: Set<OAuthErrorCode> = [
        .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType, .invalidScope,
        .accessDenied, .unsupportedResponseType, .serverError, .temporarilyUnavailable, .slowDown,
        .authorizationPending,
        .expiredToken, .invalidTarget,
        .unsupportedTokenType, .useDPoPNonce, .invalidDPoPProof, .interactionRequired, .loginRequired,
        .consentRequired, .accountSelectionRequired, .insufficientUserAuthentication,
    ]

    /// Whether it is in a registry, so that it cannot contain anything else.
    var isRegistered: Bool { Self.printable.contains(self) }

    /// The code, if it is a registered one. Others may echo a token, so they are not printed.
    public var description: String {
        Self.printable.contains(self) ? rawValue : "unregistered_code"
    }
}

extension OAuthErrorCode: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
