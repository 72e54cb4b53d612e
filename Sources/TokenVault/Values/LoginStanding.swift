/// How a login stands, in one word: what listings show and filters choose by.
public enum LoginStanding: String, Sendable, Hashable, CaseIterable {
    /// Its access token is valid.
    case established
    /// A renewal may have reached the provider, and no usable reply came. The same refresh token is sent again.
    case inDoubt
    /// The access token has expired; it is renewed at the next use, or set by the app.
    case expired
    /// The provider wants the user to act. Nothing is sent before.
    case needsUser
    /// Flagged until the app sets a new token, or the user logs in again.
    case dead
    /// Ended for good; only a new log-in leads out.
    case terminated
}

extension Login {
    /// How the login stands, in one word.
    public var standing: LoginStanding {
        switch state {
        case .terminated: .terminated
        case .tokenExpired(_?): .dead
        case _ where needsUser: .needsUser
        case _ where isInDoubt: .inDoubt
        case .established: .established
        case .tokenExpired(nil), .notLoggedIn, .establishing: .expired
        }
    }
}
