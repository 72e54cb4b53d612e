/// A failure that says nothing about the login.
package struct TransientFailure: Hashable, Sendable {
    package var cause: TransientCause
    /// The earliest time for a retry, if the server named one; at most one hour.
    package var retryAfter: Duration?
    /// Whether the refresh token may be spent nevertheless, so that a later `invalid_grant` indicates a lost response.
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
    /// 4a: the server asked for a nonce and sent none.
    case nonceMissing
    /// 4a: the server asked for the nonce that was sent, or for a second one in the same exchange.
    case nonceRepeated
    /// 13, or a profile's code.
    case temporary(OAuthErrorCode)
    /// 15.
    case redirect(status: Int)
    /// 16, and well-formed unknown codes. Counts towards ``RejectionHistory``.
    case unclassifiedRejection(status: Int)
    /// 18: an unknown error with a 2xx.
    case unclassifiedError
}

extension TransientCause {
    /// Whether the server has not processed the request at all, so that it counts as not sent.
    package var isUnprocessed: Bool {
        switch self {
        case .notSent, .throttled(status: 429), .throttled(status: 503): true
        case .throttled, .serverError, .nonceMissing, .nonceRepeated, .temporary, .redirect, .unclassifiedRejection,
            .unclassifiedError:
            false
        }
    }
}
