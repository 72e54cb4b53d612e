import OAuthClient
import VaultStorage

/// The result of an attempt, without the tokens themselves.
enum RenewalReply: Equatable, Sendable {
    case tokens
    /// A new refresh token, and no usable access token.
    case successorOnly(Defect)
    case verdict(RenewalFailure)

    enum Defect: Equatable, Sendable {
        /// Row 19a of `docs/token-outcomes.md`: redeem the new refresh token at once, once.
        case accessTokenMissing
        /// Row 20: the token is not bound as required. Asking again would bring the same.
        case downgraded
    }
}

extension RenewalReply {
    /// The meaning of a token endpoint's outcome for the chain. The only such mapping.
    ///
    /// - Parameter target: The target of the requested token. A refused resource or scope concerns that request only.
    init(_ attempt: TokenAttempt, for target: TokenTarget = .own) {
        let doubt: RenewalDoubt.Cause? = attempt.leavesDoubt ? .serverError : nil
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
                .verdict(.unprocessed(retryAfter: failure.retryAfter, doubt: doubt))
            case .transient(let failure):
                .verdict(
                    .transient(
                        retryAfter: failure.retryAfter,
                        doubt: failure.cause.isRedirect ? doubt.map { _ in .redirected } : doubt,
                        isRejection: failure.cause.countsAsRejection))
            // The endpoint has already repeated the request once, as these ask for.
            case .nonceRequired, .scopeRefused:
                .verdict(.transient(retryAfter: nil, doubt: doubt, isRejection: false))
            // Neither nonce nor clock fixes the proof: the key, or the provider's record of it, is at fault.
            case .invalidProof:
                .verdict(.transient(retryAfter: nil, doubt: doubt, isRejection: true))
            }
    }
}

extension TransientCause {
    /// Row 16: a refusal outside of OAuth's terms. Repeated for a day, it ends the login.
    var countsAsRejection: Bool {
        if case .unclassifiedRejection = self { true } else { false }
    }

    /// Row 15.
    fileprivate var isRedirect: Bool { if case .redirect = self { true } else { false } }
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
