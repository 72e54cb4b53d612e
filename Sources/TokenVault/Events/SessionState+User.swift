/// Something that changes how a login looks.
enum SessionChange: Equatable, Sendable {
    /// An access token was stored that is good: a log-in, a renewal, or the app set it.
    case tokenStored
    /// An access token was stored that had run out already, or the login no longer has one.
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

        // No login is *establishing*: its user is, while a code is exchanged. What is not there cannot die, expire or end.
        case (.notLoggedIn, .tokenStored), (.establishing, .tokenStored): .established
        case (.notLoggedIn, .staleTokenStored), (.establishing, .staleTokenStored): .tokenExpired(nil)
        case (.notLoggedIn, .tokenRanOut), (.notLoggedIn, .died), (.notLoggedIn, .ended): self
        case (.establishing, .tokenRanOut), (.establishing, .died), (.establishing, .ended): self

        case (.established, .tokenRanOut), (.established, .staleTokenStored): .tokenExpired(nil)
        case (.established, .died(let failure)): .tokenExpired(failure)
        case (.established, .ended(let reason)): .terminated(reason)
        case (.established, .tokenStored): .established

        case (.tokenExpired, .tokenStored): .established
        case (.tokenExpired, .staleTokenStored): .tokenExpired(nil)
        case (.tokenExpired, .died(let failure)): .tokenExpired(failure)
        case (.tokenExpired, .ended(let reason)): .terminated(reason)
        case (.tokenExpired, .tokenRanOut): self

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
