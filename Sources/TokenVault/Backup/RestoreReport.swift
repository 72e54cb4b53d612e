/// What a restore did, and which logins wait for ``Vault/acceptRestore(ofProvider:limit:)``.
public struct RestoreReport: Sendable, Equatable {
    public let path: String
    public let backup: BackupFacts
    public let incarnation: Int64
    /// Log-ins that were pending in the backup, and were dropped.
    public let droppedLogIns: Int
    /// Renewals that were open in the backup, and were dropped. Their logins are held whatever is known of the others.
    public let droppedRenewals: Int
    public let knowledge: RestoreKnowledge
    public let providers: [HeldLogins]
}

/// How many logins of one provider a restore holds.
public struct HeldLogins: Sendable, Equatable {
    /// What sending an old refresh token may do.
    public enum Risk: String, Sendable, Equatable {
        /// Refresh tokens stay the same: nothing can be replayed.
        case none
        /// An old one is refused, and that is all.
        case refused
        /// The server ends the login, or all logins of its family, when it sees an old one.
        case ended
        /// The server ends all logins of the user.
        case allLoginsOfUser
        /// There is no refresh token to be sent: the app is asked.
        case app
    }

    /// Nil: logins that only the app can renew.
    public let provider: String?
    public let logins: Int
    public let held: Int
    public let risk: Risk
}
