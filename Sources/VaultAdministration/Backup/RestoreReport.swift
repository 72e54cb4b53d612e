import TokenVault

/// The results of a restore, and the logins that wait for ``Vault/acceptRestore(ofProvider:limit:)``.
package struct RestoreReport: Sendable, Equatable {
    package let path: String
    package let backup: BackupView
    package let incarnation: Int64
    /// Log-ins that were pending in the backup, and were dropped.
    package let droppedLogIns: Int
    /// Renewals that were open in the backup, and were dropped. Their logins are held regardless of the others.
    package let droppedRenewals: Int
    package let knowledge: RestoreKnowledge
    package let providers: [HeldLogins]
}

/// How many logins of one provider a restore holds.
package struct HeldLogins: Sendable, Equatable {
    /// The risk of sending an old refresh token.
    package enum Risk: String, Sendable, Equatable {
        /// Refresh tokens stay the same: nothing can be replayed.
        case none
        /// An old one is only refused.
        case refused
        /// The server ends the login, or all logins of its family, when it sees an old one.
        case ended
        /// The server ends all logins of the user.
        case allLoginsOfUser
        /// There is no refresh token to send: the app is asked.
        case app
    }

    /// Nil: logins that only the app can renew.
    package let provider: String?
    package let logins: Int
    package let held: Int
    package let risk: Risk
}
