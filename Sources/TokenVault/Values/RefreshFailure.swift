public import FoundationEssentials

/// The persisted *refresh failed* flag of a login: why it is dead and since when.
public struct RefreshFailure: Equatable, Sendable {
    public let reason: Reason
    public let date: Date

    /// Why a login is dead. An open set; the codes are stored and never reused.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        package let code: UInt8

        package init(code: UInt8) {
            self.code = code
        }

        public var description: String {
            switch code {
            case Self.deadGrant.code: "deadGrant"
            case Self.lostResponse.code: "lostResponse"
            case Self.unclassifiedRejection.code: "unclassifiedRejection"
            case Self.refusedByHandler.code: "refusedByHandler"
            case Self.keyMismatch.code: "keyMismatch"
            default: "unknown"
            }
        }

        /// The server said that the grant is invalid, expired or revoked.
        public static let deadGrant = Self(code: 1)
        /// A reply was lost, and the server no longer takes the refresh token that it may have replaced then.
        public static let lostResponse = Self(code: 2)
        /// The server refused for a day without ever saying why in OAuth's terms.
        public static let unclassifiedRejection = Self(code: 3)
        /// The app's ``TokenRefreshHandler`` said that it is over.
        public static let refusedByHandler = Self(code: 4)
        /// The server refused proofs of the login's DPoP key for a day, and neither a nonce nor its clock was the reason.
        public static let keyMismatch = Self(code: 5)
    }
}

extension RefreshFailure: PublicRendering {
    var shown: ShownFields {
        [
            "reason": reason, "date": date,
        ]
    }
}

extension RefreshFailure.Reason: NameRendering {}
