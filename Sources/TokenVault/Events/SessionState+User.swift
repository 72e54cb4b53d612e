extension SessionState {
    /// The state of a user, from the states of their logins.
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
