/// What is known of what happened to a vault after a backup was made of it: which logins may have spent the refresh token
/// that the backup holds.
package enum RestoreEvidence: Sendable, Equatable {
    /// Nothing: any login may have moved.
    case none
    /// Exactly these have moved, or may have.
    case moved(Set<LoginHandle>)

    /// Whether a login of the backup may have moved.
    func holds(_ login: LoginHandle) -> Bool {
        switch self {
        case .none: true
        case .moved(let logins): logins.contains(login)
        }
    }

    /// As the audit trail records it.
    package var word: String {
        switch self {
        case .none: "none"
        case .moved: "moved"
        }
    }
}

/// What a restore did to a vault.
package struct RestoreOutcome: Sendable {
    package let incarnation: Int64
    package let droppedLogIns: Int
    package let droppedRenewals: Int
    /// Logins that the evidence let go on at once.
    package let accepted: Int
}
