/// The outcome of retrying revocations.
package struct RevocationRetryReport: Sendable, Equatable {
    /// One for each entry that was tried; entries that another process settled meanwhile are left out.
    package var results: [Result]

    package struct Result: Sendable, Equatable {
        package let id: RevocationID
        /// The login whose tokens these are; nil if they never became one.
        package let login: LoginID?
        package let outcome: RevocationReport.Outcome
    }

    /// Whether every entry is settled.
    package var isComplete: Bool { results.allSatisfy(\.outcome.isSettled) }
}
