import VaultStorage

/// What stands in no audit row, and is reported by the process in which it happens.
enum SessionNotice: Sendable {
    /// The app, or a handler of it, handed in a token that cannot be taken.
    case unusableToken(login: LoginHandle, VaultError.Code)
    /// How many log-ins of a user are under way in this process.
    case logIns(user: UserKey, count: Int)
}
