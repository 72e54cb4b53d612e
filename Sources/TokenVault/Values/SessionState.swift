/// How a login looks to the app.
///
/// Read it as ``Login/state``, watch it with ``UserManager/sessionStates(of:)``.
public enum SessionState: Equatable, Sendable {
    /// There is no login.
    case notLoggedIn
    /// A log-in is under way: its code is being exchanged.
    case establishing
    /// There is an access token that has not expired, and no failure.
    case established
    /// The access token has expired, or the login is dead (then the failure says why).
    case tokenExpired(RefreshFailure?)
    /// The login was ended and only a new log-in leads out.
    case terminated(TerminationReason)
}

extension SessionState: NameRendering {
    public var description: String {
        switch self {
        case .notLoggedIn: "notLoggedIn"
        case .establishing: "establishing"
        case .established: "established"
        case .tokenExpired(nil): "tokenExpired"
        case .tokenExpired(let failure?): "tokenExpired(\(failure.reason))"
        case .terminated(let reason): "terminated(\(reason))"
        }
    }
}
