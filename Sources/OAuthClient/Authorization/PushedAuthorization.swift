/// A pushed authorization request that the server accepted (RFC 9126 §2.2).
package struct PushedAuthorization: Sendable {
    /// Identifies the request in the browser. Used once.
    package let requestURI: String
    package let expiresIn: Duration?
}

/// The result of pushing an authorization request.
package enum PushedAuthorizationOutcome: Sendable {
    case accepted(PushedAuthorization)
    case refused(OAuthErrorCode, ProviderAnswer)
    /// No usable answer. Nothing can have been spent, because the request carries neither a code nor a token.
    case failed(HTTPTransportError?, ProviderAnswer?, retryAfter: Duration?)
}

package struct PushedAuthorizationAttempt: Sendable {
    package let outcome: PushedAuthorizationOutcome
    /// The latest nonce that a reply brought, by origin; keep it for the code exchange.
    package let nonces: [String: DPoPNonce]
    package let requestsSent: Int
    /// The number of client secrets that were refused before this one.
    package let refusedSecrets: Int
}
