public import FoundationEssentials
import OAuthClient
public import TokenVault
import VaultCrypto
import VaultStorage

/// Brings a source into a vault, or holds the one against the other.
///
/// ```swift
/// let source = try ImportSource(path: "db.sqlite3", plan: ImportPlan(userKey: .email))
/// var rows = ImportRun(source, into: vault, options: .init(name: "allauth")).makeAsyncIterator()
/// while let row = try await rows.next() { print(row.place, row.outcome) }
/// print(rows.result.outcomes)
/// ```
///
/// Nothing is sent, and nothing is written to the source. Logins that are taken belong to their source: the vault serves
/// their access tokens and renews none before `Vault.acceptImport`. Run it
/// again, any number of times: rows that have not changed change nothing, and those that have are followed.
///
/// Rows are written in batches, each in one transaction, and a row comes out of the iteration when its batch is durable. A
/// run that is broken off is simply begun anew; the batch that was under way may still be written.
public struct ImportRun: AsyncSequence, Sendable {
    public typealias Element = ImportedRow

    private let source: ImportSource
    private let vault: Vault
    private let options: ImportRunOptions
    private let now: Date

    /// - Parameters:
    ///   - source: What is read.
    ///   - vault: Where its logins go.
    ///   - options: What the source is called, and what is done with its rows.
    ///   - now: The moment against which expiries are held; nil: the vault's clock.
    public init(_ source: ImportSource, into vault: Vault, options: ImportRunOptions = .init(), now: Date? = nil) {
        self.source = source
        self.vault = vault
        self.options = options
        self.now = now ?? vault.now.date
    }

    public func makeAsyncIterator() -> AsyncIterator {
        let taker = RowPreparer(vault, source: options.name ?? source.detection.kind.name, options)
        let screen = taker.screen
        return AsyncIterator(
            outcomes: ImportReading(source, now: now).makeAsyncIterator { try await screen.reason(against: $0) },
            taker: taker)
    }

    /// Takes batch after batch: while one is written, the next is read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var outcomes: ImportReading.AsyncIterator
        private var taker: RowPreparer
        private var writing: Task<[ImportedRow], any Error>?
        /// Of a batch that is durable, in reverse.
        private var ready: [ImportedRow] = []
        private var isAtEnd = false
        /// What came of reading on while a batch was being written, whose rows come first.
        private var failure: (any Error)?
        /// The rows so far, and after the last one what the whole reading found.
        public private(set) var result = ImportResult()

        init(outcomes: ImportReading.AsyncIterator, taker: RowPreparer) {
            self.outcomes = outcomes
            self.taker = taker
        }

        /// - Throws: ``ImportError``, `VaultError`, or `CancellationError`. What was written before stays.
        public mutating func next() async throws -> ImportedRow? {
            while ready.isEmpty {
                if writing == nil {
                    if let failure { throw failure }
                    if isAtEnd { return nil }
                    try await begin()
                }
                try await takeBatch()
            }
            return ready.removeLast()
        }

        /// The share of the source that was read, from 0 to 1; nil if it is not known.
        public var progress: Double? { outcomes.progress }

        /// The fingerprint of a row's refresh token, as reports show it: the same for the same token, in this run alone. Nil
        /// for a row without one.
        public mutating func fingerprint(of row: ImportedRow) throws -> String? {
            switch row.row {
            case .login(let login), .update(let login, _), .dead(let login, _):
                try outcomes.fingerprint(of: login.source)
            case .duplicate, .registration, .part, .rejected: nil
            }
        }

        private mutating func begin() async throws {
            try await taker.begin()
            write(try await readBatch())
        }

        private mutating func readBatch() async throws -> PreparedBatch {
            var batch: [RowOutcome] = []
            batch.reserveCapacity(RowPreparer.batch)
            while batch.count < RowPreparer.batch {
                guard let outcome = try await outcomes.next() else {
                    isAtEnd = true
                    break
                }
                batch.append(outcome)
            }
            return try await taker.prepare(batch)
        }

        private mutating func write(_ batch: PreparedBatch) {
            let writer = taker.writer
            writing = Task { try await writer.write(batch) }
        }

        /// Reads the next batch, and waits for the one that is being written.
        private mutating func takeBatch() async throws {
            guard let writing else { return }
            var following: PreparedBatch?
            do { if !isAtEnd { following = try await readBatch() } } catch { failure = error }
            let rows = try await withTaskCancellationHandler {
                try await writing.value
            } onCancel: {
                writing.cancel()
            }
            self.writing = nil
            let added = result[.added]
            for row in rows { result.add(row) }
            taker.isAdding = (result[.added] - added) * 2 > rows.count
            ready = rows.reversed()
            if failure != nil { return }
            if let following, !following.outcomes.isEmpty { return write(following) }
            result.reading = outcomes.summary
            result.missingProviders = taker.screen.missing
            result.missing = try await taker.end(result)
        }
    }
}

/// What an ``ImportRun`` does with the rows.
public struct ImportRunOptions: Sendable {
    public enum Purpose: Sendable, Hashable {
        /// New logins are added and belong to their source; those that still do follow it.
        case hold
        /// The same, but new logins belong to the vault at once: for a source that is gone, and renews nothing.
        case take
        /// Nothing is added. A login that the vault owns and the source has renewed is held: both have renewed it.
        case check
        /// As ``check``, and logins that are dead or contested take the source's newer tokens: the source must have been
        /// stopped.
        case adopt
        /// Nothing is changed: whether the vault has what the source has.
        case compare
    }

    /// What the source is called in the vault, at most 64 bytes; nil: as its kind is. The same at each reading.
    public var name: String?
    public var purpose: Purpose
    /// Everything is done, and undone.
    public var isRehearsal: Bool
    /// Whose users and providers the rows name; nil: no tenant's.
    package var tenant: Tenant?

    public init(name: String? = nil, purpose: Purpose = .hold, isRehearsal: Bool = false) {
        self.name = name
        self.purpose = purpose
        self.isRehearsal = isRehearsal
    }
}
