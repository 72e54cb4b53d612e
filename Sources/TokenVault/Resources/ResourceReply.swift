/// What a resource server's reply means for the token and the proof that it was given.
public enum ResourceReply: Sendable, Equatable {
    /// Nothing: the reply is about the request itself, good or bad.
    case final
    /// The proof was refused, and another one may be accepted: the nonce that the server wants, or its clock, is known
    /// now. Authorize the same request again with the same token, and send it once more; five times at most.
    case wantsNewProof
    /// The token was refused (`invalid_token`). ``UserManager/reportRejected(_:)`` gets another one.
    case refusedToken
    /// The token is good, and the user must authenticate in another way, or again (RFC 9470).
    case needsStepUp(StepUpChallenge)
}
