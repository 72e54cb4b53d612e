public import OAuthClient

/// The meaning of a resource server's reply for the token and the proof.
public enum ResourceReply: Sendable, Equatable {
    /// Nothing: the reply is about the request itself, good or bad.
    case final
    /// The proof was refused, and another one may be accepted: the nonce that the server wants, or its clock, is known
    /// now. Authorize the same request with the same token again, and resend it; five times at most.
    case wantsNewProof
    /// The token was refused (`invalid_token`). ``UserManager/reportRejected(_:)`` gets another one.
    case refusedToken
    /// The token is good, and the user must authenticate in another way, or again (RFC 9470).
    case needsStepUp(StepUpChallenge)
    /// The token is good, and lacks this scope (`insufficient_scope`, RFC 6750 §3.1; empty: the API does not say which). A renewal brings the same one again: the
    /// user must consent, see ``LogInRequest/init(into:redirectURI:scope:dpop:loginHint:parameters:context:variables:adding:acceptsOtherAccount:)``.
    case needsScope(Scope)
}
