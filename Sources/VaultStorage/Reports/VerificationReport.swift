/// What a full check of the vault found.
package struct VerificationReport: Sendable {
    package struct Finding: Hashable, Sendable {
        /// The table, or `file`.
        package let place: String
        /// The text form of the handle, or the sequence number of an audit row.
        package let subject: String?
        /// One lower-case sentence.
        package let reason: String
    }

    package internal(set) var users = 0
    package internal(set) var logins = 0
    package internal(set) var providers = 0
    package internal(set) var cells = 0
    package internal(set) var auditRows = 0
    /// How many findings there were; only the first ``findingLimit`` are kept.
    package internal(set) var findingCount = 0
    package internal(set) var findings: [Finding] = []

    package static let findingLimit = 1000
    package var isClean: Bool { findingCount == 0 }
}

package struct VerificationProgress: Sendable {
    package let checked: Int
    package let total: Int
}
