import OAuthClient
import VaultStorage

/// What an attempt brought, without the tokens themselves.
enum RenewalReply: Equatable, Sendable {
    case tokens
    /// A new refresh token, and no access token that may be used.
    case successorOnly(Defect)
    case verdict(RenewalFailure)

    enum Defect: Equatable, Sendable {
        /// Row 19a of `docs/token-outcomes.md`: redeem the new refresh token at once, once.
        case accessTokenMissing
        /// Row 20: the token is not bound as it must be. Asking again would bring the same.
        case downgraded
    }
}

extension RenewalReply {
    /// What an outcome of the token endpoint means for the chain. The only such mapping.
    ///
    /// - Parameter target: what the token was asked for. That a resource or a scope is refused is about that request and
    ///   no other.
    init(_ attempt: TokenAttempt, for target: TokenTarget = .own) {
        self =
            switch attempt.outcome {
            case .misconfigured(.refused(.invalidTarget)) where !target.isOwn,
                .misconfigured(.refused(.invalidScope)) where target.scope != nil,
                .scopeRefused where target.scope != nil:
                .verdict(.targetRefused)
            case .success: .tokens
            case .partial(let partial): .successorOnly(partial.cause.redeemsAtOnce ? .accessTokenMissing : .downgraded)
            case .dead(let cause): .verdict(.dead(RefreshFailure.Reason(cause)))
            case .misconfigured(.client): .verdict(.clientRefused)
            case .misconfigured: .verdict(.misconfigured)
            case .needsUser: .verdict(.needsUser)
            case .inDoubt: .verdict(.inDoubt(mayReplay: false))
            case .transient(let failure) where failure.cause.isUnprocessed:
                .verdict(.unprocessed(retryAfter: failure.retryAfter, keepsDoubt: attempt.leavesDoubt))
            case .transient(let failure):
                .verdict(
                    .transient(
                        retryAfter: failure.retryAfter, keepsDoubt: attempt.leavesDoubt,
                        isRejection: failure.cause.countsAsRejection))
            // The endpoint has made the one repeat that these ask for.
            case .nonceRequired, .scopeRefused:
                .verdict(.transient(retryAfter: nil, keepsDoubt: attempt.leavesDoubt, isRejection: false))
            // Neither nonce nor clock mends the proof: the key, or the provider's idea of it, is at fault.
            case .invalidProof:
                .verdict(.transient(retryAfter: nil, keepsDoubt: attempt.leavesDoubt, isRejection: true))
            }
    }
}

extension TransientCause {
    /// Row 16: a refusal outside of OAuth's terms. Repeated for a day, it ends the login.
    var countsAsRejection: Bool {
        if case .unclassifiedRejection = self { true } else { false }
    }
}

extension RefreshFailure.Reason {
    init(_ cause: DeadCause) {
        self =
            switch cause {
            case .invalidGrant, .profileCode, .bareStatus: .deadGrant
            case .lostResponse: .lostResponse
            case .unclassifiedRejection: .unclassifiedRejection
            case .keyMismatch: .keyMismatch
            }
    }
}
