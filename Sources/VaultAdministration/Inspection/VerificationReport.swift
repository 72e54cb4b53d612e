/// What ``Vault/verify(progress:)`` found.
package struct VerificationReport: Sendable, Equatable {
    package let users: Int
    package let logins: Int
    package let providers: Int
    package let cells: Int
    package let auditEntries: Int
    /// All of them; ``findings`` holds the first thousand.
    package let findingCount: Int
    package let findings: [VerificationFinding]

    package var isClean: Bool { findingCount == 0 }
}

/// One thing that is not as it was written.
package struct VerificationFinding: Sendable, Equatable {
    /// What it concerns, for instance `login` or `audit`.
    package let subject: String
    /// The random handle or sequence number of the row, where there is one.
    package let handle: String?
    /// One sentence, lower case.
    package let problem: String
}
