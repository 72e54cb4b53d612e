/// The outcome of retrying revocations.
public struct RevocationRetryReport: Sendable, Equatable {
    /// One for each entry that was tried; what another process has settled meanwhile is left out.
    public var results: [Result]

    public struct Result: Sendable, Equatable {
        public let id: RevocationID
        /// The login whose tokens these are; nil if they never became one.
        public let login: LoginID?
        public let outcome: RevocationReport.Outcome
    }

    /// Whether every entry is settled.
    public var isComplete: Bool { results.allSatisfy(\.outcome.isSettled) }
}
