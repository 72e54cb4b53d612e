public import FoundationEssentials
import OAuthClient

/// The classified rows of a source under its plan, without a vault.
///
/// Memory holds at most 55 bytes for each chain and, where a source may repeat accounts, as many for each account.
public struct ImportReading: AsyncSequence, Sendable {
    public typealias Element = RowOutcome

    public let source: ImportSource
    /// The time that expiries are compared with.
    public let now: Date

    public init(_ source: ImportSource, now: Date) {
        self.source = source
        self.now = now
    }

    public func makeAsyncIterator() -> AsyncIterator { makeAsyncIterator(screen: nil) }

    /// With a vault's check of each row, which comes before rows are compared with each other.
    func makeAsyncIterator(screen: RowClassifier.Screen?) -> AsyncIterator {
        AsyncIterator(
            rows: source.makeAsyncIterator(), classifier: RowClassifier(source: source, now: now, screen: screen))
    }

    /// Classifies one row after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var rows: ImportSource.AsyncIterator
        private var classifier: RowClassifier
        /// The summary of the rows so far.
        public private(set) var summary = ImportSummary()

        init(rows: ImportSource.AsyncIterator, classifier: RowClassifier) {
            self.rows = rows
            self.classifier = classifier
        }

        /// - Throws: ``ImportError``, or `CancellationError`.
        public mutating func next() async throws -> RowOutcome? {
            guard let row = try await rows.next() else {
                summary.unknownMembers = rows.unknownMembers
                summary.unusedRules = classifier.unusedRules.sorted()
                return nil
            }
            let outcome = try await classifier.outcome(of: row)
            summary.add(outcome)
            return outcome
        }

        /// The share of the source that was read, from 0 to 1; nil if unknown.
        public var progress: Double? { rows.progress }

        /// The fingerprint of a login's refresh token, as reports show it; nil if it has none.
        public mutating func fingerprint(of login: SourceLogin) throws -> String? {
            try login.refreshToken.map { try classifier.fingerprint($0) }
        }
    }
}
