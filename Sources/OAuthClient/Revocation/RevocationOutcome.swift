/// The result of a revocation request (RFC 7009 §2.2).
public enum RevocationOutcome: Hashable, Sendable {
    /// The token no longer works, or never did: both count as done.
    case revoked
    /// The server has no revocation endpoint. The token lives on until it expires.
    case unsupported
    /// The server does not revoke tokens of this type (§2.2.1).
    case unsupportedTokenType
    /// The token must be assumed alive; try again later.
    case tryLater(retryAfter: Duration?)
    /// The server refused our client or request; the token must be assumed alive.
    case misconfigured(OAuthErrorCode?)
}

/// The kind of token that a revocation is about (RFC 7009 §2.1).
package enum RevocableToken: Sendable {
    case refresh(RefreshToken)
    case access(AccessToken)
}

/// The result of one revocation, with at most one repeat for a proof.
package struct RevocationAttempt: Sendable {
    package let outcome: RevocationOutcome
    /// The latest nonce that a reply brought, by origin.
    package let nonces: [String: DPoPNonce]
    package let requestsSent: Int
}
