/// The outcome of one token endpoint reply for the login. The numbers are rows of `docs/token-outcomes.md`.
package enum TokenOutcome: Equatable, Sendable {
    /// 21: the next link of the chain.
    case success(IssuedTokens)
    /// 19a, 20: a new refresh token without a usable access token.
    case partial(PartialTokens)
    /// 7, 8, 11 and 14 by profile, bare status, repeated unclassified rejection: this login is dead.
    case dead(DeadCause)
    /// 9, 10 after its repeat, 11: our registration, or this one request, is wrong. No login is flagged.
    case misconfigured(Misconfiguration)
    /// 12: the user must act; the refresh token is not dead.
    case needsUser(OAuthErrorCode)
    /// 1, 3, 3a, 4a, 13, 15, 16: retry later.
    case transient(TransientFailure)
    /// 2, 17, 19: the refresh token may be spent and no usable reply arrived.
    case inDoubt(DoubtCause)
    /// 4: repeat once, with this nonce.
    case nonceRequired(DPoPNonce)
    /// 5: the proof was rejected.
    case invalidProof(ProofRepair)
    /// 10: repeat once without `scope`.
    case scopeRefused
}

/// An error in our registration at the provider.
package enum Misconfiguration: Hashable, Sendable, CustomStringConvertible {
    /// 9: the provider rejected the client itself, with this code. It affects every login of the provider.
    case client(OAuthErrorCode)
    /// 9a, 10, 11: the provider rejected this login's request, with this code. It says nothing about others.
    case refused(OAuthErrorCode)
    /// 20, with no refresh token to keep: tokens of another type than the login requires.
    case wrongTokenType

    package var description: String {
        switch self {
        case .client(let code), .refused(let code): code.description
        case .wrongTokenType: "wrong token type"
        }
    }
}

/// The reason why a login is dead.
package enum DeadCause: String, Hashable, Sendable, CaseIterable {
    /// 8: the server says so.
    case invalidGrant
    /// 7: the server says so, and an earlier reply for this generation was lost.
    case lostResponse
    /// 11, 14: a code that the provider's profile lists.
    case profileCode
    /// A status with an empty body that the provider's profile lists.
    case bareStatus
    /// Repeated unclassified 4xx replies.
    case unclassifiedRejection
    /// 5: proofs are rejected repeatedly, and neither nonce nor clock fixes them.
    case keyMismatch

    /// Whether the server itself said that the grant is over. Otherwise it has merely been refusing for too long.
    package var isVerdict: Bool { self != .unclassifiedRejection && self != .keyMismatch }
}

/// The reason why the state of the refresh token is unknown.
package enum DoubtCause: Hashable, Sendable {
    /// 2: the request may have arrived; there is no reply.
    case transport(HTTPTransportError.Code)
    /// 17: a 2xx whose body cannot be read.
    case unreadableBody
    /// 19: a 2xx without a usable token.
    case unusableTokens
    /// 18 with an access token: the reply reports both an error and success.
    case contradictory
    /// The id token names another subject, and there is no new refresh token.
    case identityChanged
    /// A status that is not one of a final reply.
    case unexpectedStatus
}

/// Whether a rejected proof can be fixed.
package enum ProofRepair: Hashable, Sendable {
    /// The rejection brought a new nonce.
    case nonce(DPoPNonce)
    /// The server's clock is this far ahead of ours (behind, if negative).
    case clock(Duration)
    /// Neither: the key, or the provider's record of it, is wrong.
    case none
}
