/// A login's status in one word, for listings and filters.
public enum LoginStanding: String, Sendable, Hashable, CaseIterable {
    /// The access token is valid.
    case established
    /// A renewal may have reached the provider, and no usable reply came. The same refresh token is sent again.
    case inDoubt
    /// The provider has refused to renew it, for a reason that does not pass by itself, such as an expired client
    /// secret. It is asked again at intervals.
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
    /// Ended permanently; only a new log-in revives it.
    case terminated
}

extension Login {
    /// The login's status in one word. If several apply, it is the one that needs the most attention.
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
