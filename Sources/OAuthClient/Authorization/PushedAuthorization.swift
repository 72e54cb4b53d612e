/// A pushed authorization request that the server has taken (RFC 9126 §2.2).
package struct PushedAuthorization: Sendable {
    /// Stands for the request in the browser. Used once.
    package let requestURI: String
    package let expiresIn: Duration?
}

/// The result of pushing an authorization request.
package enum PushedAuthorizationOutcome: Sendable {
    case accepted(PushedAuthorization)
    case refused(OAuthErrorCode, ProviderAnswer)
    /// No usable answer. Nothing can have been spent: there is neither a code nor a token in it.
    case failed(HTTPTransportError?, ProviderAnswer?, retryAfter: Duration?)
}

package struct PushedAuthorizationAttempt: Sendable {
    package let outcome: PushedAuthorizationOutcome
    /// The latest nonce that a reply brought, by origin: to be kept for the code exchange.
    package let nonces: [String: DPoPNonce]
    package let requestsSent: Int
    /// How many client secrets before this one were refused.
    package let refusedSecrets: Int
}
