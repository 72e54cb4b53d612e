/// What one reply of the token endpoint means for the login. The numbers are rows of `docs/token-outcomes.md`.
package enum TokenOutcome: Equatable, Sendable {
    /// 21: the next link of the chain.
    case success(IssuedTokens)
    /// 19a, 20: a new refresh token without a usable access token.
    case partial(PartialTokens)
    /// 7, 8, 11 and 14 by profile, bare status, repeated unclassified rejection: this login is finished.
    case dead(DeadCause)
    /// 9, 10 after its repeat, 11: our registration, or this one request, is wrong. No login is flagged.
    case misconfigured(Misconfiguration)
    /// 12: the user must act; the refresh token is not dead.
    case needsUser(OAuthErrorCode)
    /// 1, 3, 3a, 4a, 13, 15, 16: later.
    case transient(TransientFailure)
    /// 2, 17, 19: the refresh token may be spent and no usable reply came.
    case inDoubt(DoubtCause)
    /// 4: to be repeated once, with this nonce.
    case nonceRequired(DPoPNonce)
    /// 5: the proof was refused.
    case invalidProof(ProofRepair)
    /// 10: to be repeated once without `scope`.
    case scopeRefused
}

/// What is wrong between the provider and our registration there.
package enum Misconfiguration: Hashable, Sendable, CustomStringConvertible {
    /// 9: the client itself was refused, by this code. It holds for every login of the provider.
    case client(OAuthErrorCode)
    /// 9a, 10, 11: what this login asked for was refused, by this code. It says nothing about others.
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

/// Why a login is finished.
package enum DeadCause: String, Hashable, Sendable, CaseIterable {
    /// 8: the server says so.
    case invalidGrant
    /// 7: the server says so, and an earlier reply for this generation was lost.
    case lostResponse
    /// 11, 14: a code that the provider's profile lists.
    case profileCode
    /// A status with an empty body that the provider's profile lists.
    case bareStatus
    /// An unclassified 4xx, again and again.
    case unclassifiedRejection
    /// 5: proofs are refused, again and again, and neither nonce nor clock mends them.
    case keyMismatch

    /// Whether the server itself has said that the grant is over. Otherwise it has just been refusing for too long.
    package var isVerdict: Bool { self != .unclassifiedRejection && self != .keyMismatch }
}

/// Why nothing can be said of the refresh token.
package enum DoubtCause: Hashable, Sendable {
    /// 2: the request may have arrived; no reply did.
    case transport(HTTPTransportError.Code)
    /// 17: a 2xx whose body cannot be read.
    case unreadableBody
    /// 19: a 2xx without a usable token.
    case unusableTokens
    /// 18 with an access token: the reply says both error and success.
    case contradictory
    /// The id token names another subject, and there is no new refresh token.
    case identityChanged
    /// A status that no final reply has.
    case unexpectedStatus
}

/// Whether a refused proof can be mended.
package enum ProofRepair: Hashable, Sendable {
    /// A new nonce came with the refusal.
    case nonce(DPoPNonce)
    /// The server's clock is this far ahead of ours (behind, if negative).
    case clock(Duration)
    /// Neither: the key, or the provider's idea of it, is at fault.
    case none
}
