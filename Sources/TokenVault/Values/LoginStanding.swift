/// How a login stands, in one word: what listings show and filters choose by.
public enum LoginStanding: String, Sendable, Hashable, CaseIterable {
    /// Its access token is valid.
    case established
    /// A renewal may have reached the provider, and no usable reply came. The same refresh token is sent again.
    case inDoubt
    /// The provider has refused to renew it, for a reason that does not pass by itself, such as a client secret that has
    /// expired. It is asked again now and then.
    case refused
    /// The access token has expired; it is renewed at the next use, or set by the app.
    case expired
    /// Nothing is sent until an operator accepts a restore, or an import.
    case held
    /// This vault and the system from which it was imported both have renewed it. Nothing is sent until an operator decides.
    case contested
    /// The provider wants the user to act. Nothing is sent before.
    case needsUser
    /// Flagged until the app sets a new token, or the user logs in again.
    case dead
    /// Ended for good; only a new log-in leads out.
    case terminated
}

extension Login {
    /// How the login stands, in one word: the one of which most must be done about it.
    public var standing: LoginStanding {
        switch state {
        case .terminated: .terminated
        case .tokenExpired(_?): .dead
        case _ where needsUser: .needsUser
        case _ where hold == .contested: .contested
        case _ where hold != nil: .held
        case _ where isInDoubt: .inDoubt
        case _ where isRefused: .refused
        case .established: .established
        case .tokenExpired(nil), .notLoggedIn, .establishing: .expired
        }
    }
}
