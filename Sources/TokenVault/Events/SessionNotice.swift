import VaultStorage

/// An event without an audit row, reported by the process in which it happens.
enum SessionNotice: Sendable {
    /// The app, or a handler of it, handed in an unusable token.
    case unusableToken(login: LoginHandle, VaultError.Code)
    /// The number of a user's log-ins in progress in this process.
    case logIns(user: UserKey, count: Int)
}
