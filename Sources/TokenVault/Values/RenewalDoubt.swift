package import FoundationEssentials

/// A renewal whose outcome is unknown: a refresh token may be spent, and no usable reply came.
package struct RenewalDoubt: Sendable, Equatable {
    package let since: Date
    package let cause: Cause

    package init(since: Date, cause: Cause) {
        self.since = since
        self.cause = cause
    }

    /// How a doubt came about. An open set; the codes are stored and never reused.
    package struct Cause: Hashable, Sendable, CustomStringConvertible {
        package let code: UInt8

        package init(code: UInt8) {
            self.code = code
        }

        package var description: String {
            switch self {
            case .ownerDied: "ownerDied"
            case .lostReply: "lostReply"
            case .serverError: "serverError"
            case .takenOver: "takenOver"
            case .redirected: "redirected"
            default: "unknown"
            }
        }

        /// The process that had begun the renewal ended before it could note how it went.
        package static let ownerDied = Self(code: 1)
        /// The request may have arrived, and no reply came that could be read.
        package static let lostReply = Self(code: 2)
        /// The server answered with an error of its own, before or after it had renewed.
        package static let serverError = Self(code: 3)
        /// The renewal was taken over from a living process, by an operator or by the policy for stalled owners.
        package static let takenOver = Self(code: 4)
        /// The token endpoint redirected, before or after it had renewed.
        package static let redirected = Self(code: 5)
    }
}
