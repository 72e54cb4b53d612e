extension TokenResponse {
    init(_ attempt: TokenAttempt) {
        switch attempt.outcome {
        case .success(let tokens): self = .successfulToken(SuccessfulTokenResponse(tokens))
        case .partial(let partial): self = .error(OAuthFailure(.unusableTokens, refreshToken: partial.refreshToken))
        case .misconfigured(.wrongTokenType): self = .error(OAuthFailure(.unusableTokens))
        case .inDoubt: self = .error(OAuthFailure(.inDoubt))
        case .transient(let failure): self = .error(OAuthFailure(failure))
        case .dead, .misconfigured, .needsUser, .nonceRequired, .invalidProof, .scopeRefused:
            self = attempt.errorReply.map { .errorToken($0) } ?? .error(OAuthFailure(.inDoubt))
        }
    }
}

extension OAuthFailure {
    fileprivate init(_ failure: TransientFailure) {
        if case .notSent = failure.cause, !failure.keepsDoubt {
            self.init(.notSent)
        } else {
            self.init(failure.keepsDoubt ? .inDoubt : .tryLater, retryAfter: failure.retryAfter)
        }
    }
}

extension TokenAttempt {
    /// Whether the server rejected the grant itself.
    var isInvalidGrant: Bool { if case .dead = outcome { true } else { false } }
}
