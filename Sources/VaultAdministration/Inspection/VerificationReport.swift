/// The findings of ``Vault/verify(progress:)``.
package struct VerificationReport: Sendable, Equatable {
    package let users: Int
    package let logins: Int
    package let providers: Int
    package let cells: Int
    package let auditEntries: Int
    /// The number of all findings; ``findings`` holds the first thousand.
    package let findingCount: Int
    package let findings: [VerificationFinding]

    package var isClean: Bool { findingCount == 0 }
}

/// One value that differs from what was written.
package struct VerificationFinding: Sendable, Equatable {
    /// The kind of data, for instance `login` or `audit`.
    package let subject: String
    /// The random handle or sequence number of the row, where there is one.
    package let handle: String?
    /// One sentence, lower case.
    package let problem: String
}
