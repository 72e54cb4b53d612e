/// A token store of another system, as a stream of its rows.
///
/// Nothing is written to it and nothing is sent. A SQLite database is read in one transaction, from the first row on.
///
/// ```swift
/// let source = try ImportSource(path: "db.sqlite3", plan: ImportPlan(userKey: .email))
/// for try await row in source { print(row) }
/// ```
///
/// Iteration reads the file on the calling task: run it in its own task for a large file.
public struct ImportSource: AsyncSequence, Sendable {
    public typealias Element = SourceRow

    /// The detected store, and the evidence.
    public let detection: StoreDetection
    public let plan: ImportPlan
    private let opening: Opening
    private let found: FoundStore

    enum Opening: Sendable {
        case file(String)
        case bytes([UInt8])
    }

    /// Detects the store in a file.
    /// - Throws: ``ImportError`` if the file contains no supported store.
    public init(path: String, plan: ImportPlan = ImportPlan()) throws(ImportError) {
        try self.init(.file(path), plan)
    }

    /// A source in memory, in one of the text formats.
    package init(bytes: [UInt8], plan: ImportPlan = ImportPlan()) throws(ImportError) {
        try self.init(.bytes(bytes), plan)
    }

    private init(_ opening: Opening, _ plan: ImportPlan) throws(ImportError) {
        self.opening = opening
        self.plan = plan
        found = try FoundStore(opening, plan)
        detection = found.detection
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(opening: opening, plan: plan, found: found) }

    /// Reads one row after another. The first call opens the source.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let opening: Opening
        private let plan: ImportPlan
        private let found: FoundStore
        private var reader: SourceReader?
        private var count = 0

        init(opening: Opening, plan: ImportPlan, found: FoundStore) {
            self.opening = opening
            self.plan = plan
            self.found = found
        }

        /// The number of rows after which other tasks may run.
        private static let rowsPerTurn = 256

        /// - Throws: ``ImportError``, or `CancellationError`.
        public mutating func next() async throws -> SourceRow? {
            count += 1
            if count.isMultiple(of: Self.rowsPerTurn) {
                try Task.checkCancellation()
                await Task.yield()
            }
            return try nextRow()
        }

        /// Without yielding to other tasks.
        package mutating func nextRow() throws(ImportError) -> SourceRow? {
            if let reader { return try reader.next() }
            let opened = try SourceReader(opening, plan, found)
            reader = opened
            return try opened.next()
        }

        /// The share of the source that was read, from 0 to 1; nil if unknown.
        public var progress: Double? { reader?.progress }

        /// Names of members that no description knows, among those seen so far.
        var unknownMembers: [String] { reader?.unknownMembers ?? [] }
    }
}
