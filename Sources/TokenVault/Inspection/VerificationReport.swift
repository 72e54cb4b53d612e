/// What ``Vault/verify(progress:)`` found.
public struct VerificationReport: Sendable, Equatable {
    public let users: Int
    public let logins: Int
    public let providers: Int
    public let cells: Int
    public let auditEntries: Int
    /// All of them; ``findings`` holds the first thousand.
    public let findingCount: Int
    public let findings: [VerificationFinding]

    public var isClean: Bool { findingCount == 0 }
}

/// One thing that is not as it was written.
public struct VerificationFinding: Sendable, Equatable {
    /// What it concerns, for instance `login` or `audit`.
    public let subject: String
    /// The random handle or sequence number of the row, where there is one.
    public let handle: String?
    /// One sentence, lower case.
    public let problem: String
}
