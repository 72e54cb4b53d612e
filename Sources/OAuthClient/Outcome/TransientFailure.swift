/// A failure that says nothing about the login.
package struct TransientFailure: Hashable, Sendable {
    package var cause: TransientCause
    /// No sooner than this, if the server said so; at most one hour.
    package var retryAfter: Duration?
    /// Whether the refresh token may be spent nevertheless, so that a later `invalid_grant` is a lost response.
    package var keepsDoubt: Bool

    package init(_ cause: TransientCause, retryAfter: Duration? = nil, keepsDoubt: Bool = false) {
        self.cause = cause
        self.retryAfter = retryAfter
        self.keepsDoubt = keepsDoubt
    }
}

package enum TransientCause: Hashable, Sendable {
    /// 1: nothing was sent.
    case notSent(HTTPTransportError.Code)
    /// 3: 429, or a status other than 5xx with `Retry-After`; of 5xx, 503 alone.
    case throttled(status: Int)
    /// 3a.
    case serverError(status: Int)
    /// 4a: a nonce was asked for and not given.
    case nonceMissing
    /// 4a: a nonce was asked for, and it is the one that was sent; or a second one in the same exchange.
    case nonceRepeated
    /// 13, or a profile's code.
    case temporary(OAuthErrorCode)
    /// 15.
    case redirect(status: Int)
    /// 16, and well-formed codes that are unknown. Counts towards ``RejectionHistory``.
    case unclassifiedRejection(status: Int)
    /// 18: an unknown error with a 2xx.
    case unclassifiedError
}

extension TransientCause {
    /// Whether the server has not looked at the request at all, so that it counts as if it had not been sent.
    package var isUnprocessed: Bool {
        switch self {
        case .notSent, .throttled(status: 429), .throttled(status: 503): true
        case .throttled, .serverError, .nonceMissing, .nonceRepeated, .temporary, .redirect, .unclassifiedRejection,
            .unclassifiedError:
            false
        }
    }
}
