/// Something that changes how a login looks.
enum SessionChange: Equatable, Sendable {
    /// An authorization code is being exchanged.
    case logInBegan
    case logInFailed
    /// An access token was stored that is good: a log-in, a renewal, or the app set it.
    case tokenStored
    /// An access token was stored that had run out already, or the login has none any more.
    case staleTokenStored
    /// The instant came at which the access token ran out.
    case tokenRanOut
    /// The *refresh failed* flag was set.
    case died(RefreshFailure)
    case ended(TerminationReason)
    /// Logged out, or forgotten.
    case removed
}

extension SessionState {
    /// The state after a change: the whole of what sessions do. Pure; drawn in `docs/session-states.md`.
    func after(_ change: SessionChange) -> SessionState {
        switch (self, change) {
        // The row is gone, whatever it was.
        case (_, .removed): .notLoggedIn

        // What is not there cannot die, run out or end.
        case (.notLoggedIn, .logInBegan): .establishing
        case (.notLoggedIn, .tokenStored): .established
        case (.notLoggedIn, .staleTokenStored): .tokenExpired(nil)
        case (.notLoggedIn, .logInFailed), (.notLoggedIn, .tokenRanOut), (.notLoggedIn, .died), (.notLoggedIn, .ended):
            .notLoggedIn

        case (.establishing, .logInFailed): .notLoggedIn
        case (.establishing, .tokenStored): .established
        case (.establishing, .staleTokenStored): .tokenExpired(nil)
        case (.establishing, .ended(let reason)): .terminated(reason)
        case (.establishing, .logInBegan), (.establishing, .tokenRanOut), (.establishing, .died): .establishing

        case (.established, .tokenRanOut), (.established, .staleTokenStored): .tokenExpired(nil)
        case (.established, .died(let failure)): .tokenExpired(failure)
        case (.established, .ended(let reason)): .terminated(reason)
        // Another log-in makes another login, and leaves this one as it is.
        case (.established, .logInBegan), (.established, .logInFailed), (.established, .tokenStored): .established

        case (.tokenExpired, .tokenStored): .established
        case (.tokenExpired, .staleTokenStored): .tokenExpired(nil)
        case (.tokenExpired, .died(let failure)): .tokenExpired(failure)
        case (.tokenExpired, .ended(let reason)): .terminated(reason)
        case (.tokenExpired, .logInBegan), (.tokenExpired, .logInFailed), (.tokenExpired, .tokenRanOut): self

        // Only a new log-in leads out, and that is a new login.
        case (.terminated, _): self
        }
    }

    /// How a user looks who has logins in these states.
    ///
    /// The best of them counts, so that a dead or ended login never flags the user's other logins: *established*, then
    /// *establishing*, then *tokenExpired* without a failure, then the latest failure, then *terminated*.
    ///
    /// - Parameter isLoggingIn: Whether a log-in of the user is under way in this process.
    static func of(userWith states: some Sequence<SessionState>, isLoggingIn: Bool) -> SessionState {
        let all = isLoggingIn ? Array(states) + [.establishing] : Array(states)
        return all.max { $0.precedes($1) } ?? .notLoggedIn
    }

    private func precedes(_ other: SessionState) -> Bool {
        if case (.tokenExpired(let mine?), .tokenExpired(let theirs?)) = (self, other) {
            return mine.date < theirs.date
        }
        return rank < other.rank
    }

    private var rank: Int {
        switch self {
        case .notLoggedIn: 0
        case .terminated: 1
        case .tokenExpired(_?): 2
        case .tokenExpired(nil): 3
        case .establishing: 4
        case .established: 5
        }
    }
}
