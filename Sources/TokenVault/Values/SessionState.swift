/// How a login looks to the app.
public enum SessionState: Equatable, Sendable {
    /// There is no login.
    case notLoggedIn
    /// A log-in is under way.
    case establishing
    /// There is an access token that has not run out, or one that can be renewed without a known obstacle.
    case established
    /// The access token ran out, or the login is dead (then the failure says why).
    case tokenExpired(RefreshFailure?)
    /// The login was ended and only a new log-in leads out.
    case terminated(TerminationReason)
}

/// Why a login was terminated. An open set.
public struct TerminationReason: Hashable, Sendable, CustomStringConvertible {
    let code: UInt8

    public var description: String {
        switch code {
        case Self.userDisabled.code: "userDisabled"
        default: "unknown"
        }
    }

    init(code: UInt8) {
        self.code = code
    }

    /// The user was disabled by an administrator.
    public static let userDisabled = Self(code: 1)
}
