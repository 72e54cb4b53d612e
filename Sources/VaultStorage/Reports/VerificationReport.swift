package import VaultCrypto

/// The findings of a full check of the vault.
package struct VerificationReport: Sendable {
    package struct Finding: Hashable, Sendable {
        /// The table, or `file`.
        package let place: String
        /// The text form of the handle, or the sequence number of an audit row.
        package let subject: String?
        /// One lower-case sentence.
        package let problem: String
        /// Whether an older but genuine state of the row would look like this.
        package let isRollback: Bool
    }

    package internal(set) var users = 0
    package internal(set) var logins = 0
    package internal(set) var providers = 0
    package internal(set) var cells = 0
    package internal(set) var auditRows = 0
    /// The number of findings; only the first ``findingLimit`` are kept.
    package internal(set) var findingCount = 0
    package internal(set) var findings: [Finding] = []

    /// Whether all findings are rolled-back states.
    package internal(set) var isOnlyRolledBack = true
    /// The end of the audit trail, as far as it was checked.
    package internal(set) var trailHead = AuditPosition(sequence: 0, link: .genesis)
    /// Prunings removed the rows up to this one, except those that had to stay.
    package internal(set) var prunedThrough: Int64 = 0

    package static let findingLimit = 1000
    package var isClean: Bool { findingCount == 0 }
}

/// A row of the audit trail and its link, which authenticates all rows before it.
package struct AuditPosition: Hashable, Sendable {
    package let sequence: Int64
    package let link: AuditMAC

    /// The position before the first row.
    static let beginning = AuditPosition(sequence: 0, link: .genesis)

    package init(sequence: Int64, link: AuditMAC) {
        self.sequence = sequence
        self.link = link
    }
}

package struct VerificationProgress: Sendable {
    package let checked: Int
    package let total: Int
}
