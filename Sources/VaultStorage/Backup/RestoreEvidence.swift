/// Evidence about a backup: the logins that may have spent the backed-up refresh token since the backup was made.
package enum RestoreEvidence: Sendable, Equatable {
    /// No evidence: any login may have moved.
    case none
    /// Exactly these logins have moved, or may have.
    case moved(Set<LoginHandle>)

    /// Whether a login of the backup may have moved.
    func holds(_ login: LoginHandle) -> Bool {
        switch self {
        case .none: true
        case .moved(let logins): logins.contains(login)
        }
    }

    /// The word that the audit trail records.
    package var word: String {
        switch self {
        case .none: "none"
        case .moved: "moved"
        }
    }
}

/// The outcome of a restore.
package struct RestoreOutcome: Sendable {
    package let incarnation: Int64
    package let droppedLogIns: Int
    package let droppedRenewals: Int
    /// The number of logins that the evidence released at once.
    package let accepted: Int
}
