public import FoundationEssentials
import OAuthClient
public import TokenVault
import VaultCrypto
import VaultStorage

/// Imports a source into a vault, or compares the two.
///
/// ```swift
/// let source = try ImportSource(path: "db.sqlite3", plan: ImportPlan(userKey: .email))
/// var rows = ImportRun(source, into: vault, options: .init(name: "allauth")).makeAsyncIterator()
/// while let row = try await rows.next() { print(row.place, row.outcome) }
/// print(rows.result.outcomes)
/// ```
///
/// Nothing is sent, and nothing is written to the source. Imported logins belong to their source: the vault serves
/// their access tokens but renews none before `Vault.acceptImport`. The run can be repeated any number of times:
/// unchanged rows change nothing, and changed rows are followed.
///
/// Rows are written in batches, each in one transaction, and the iteration returns a row when its batch is durable.
/// After an interrupted run, simply start another; the batch in progress may still be written.
public struct ImportRun: AsyncSequence, Sendable {
    public typealias Element = ImportedRow

    private let source: ImportSource
    private let vault: Vault
    private let options: ImportRunOptions
    private let now: Date

    /// - Parameters:
    ///   - source: The source to read.
    ///   - vault: The vault that receives its logins.
    ///   - options: The name of the source, and the treatment of its rows.
    ///   - now: The time that expiries are compared with; nil for the vault's clock.
    public init(_ source: ImportSource, into vault: Vault, options: ImportRunOptions = .init(), now: Date? = nil) {
        self.source = source
        self.vault = vault
        self.options = options
        self.now = now ?? vault.now.date
    }

    public func makeAsyncIterator() -> AsyncIterator {
        let name = options.name ?? source.detection.kind.name
        let taker = RowPreparer(vault, source: name, source.plan.providers.rules, options)
        let screen = taker.screen
        return AsyncIterator(
            outcomes: ImportReading(source, now: now).makeAsyncIterator { try await screen.reason(against: $0) },
            taker: taker)
    }

    /// Processes one batch after another: while one is written, the next is read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var outcomes: ImportReading.AsyncIterator
        private var taker: RowPreparer
        private var writing: Task<[ImportedRow], any Error>?
        /// The rows of a durable batch, in reverse.
        private var ready: [ImportedRow] = []
        private var isAtEnd = false
        /// The error of reading ahead while a batch was being written, whose rows come first.
        private var failure: (any Error)?
        /// The result of the rows so far, and of the whole reading after the last one.
        public private(set) var result = ImportResult()

        init(outcomes: ImportReading.AsyncIterator, taker: RowPreparer) {
            self.outcomes = outcomes
            self.taker = taker
        }

        /// - Throws: ``ImportError``, `VaultError`, or `CancellationError`. Batches written before are kept.
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

        /// The share of the source that was read, from 0 to 1; nil if unknown.
        public var progress: Double? { outcomes.progress }

        /// The fingerprint of a row's refresh token, as reports show it: the same for the same token, but only within
        /// this run. Nil for a row without one.
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

/// How an ``ImportRun`` treats the rows.
public struct ImportRunOptions: Sendable {
    public enum Purpose: Sendable, Hashable {
        /// New logins are added and belong to their source; existing ones that still belong to it follow it. A login
        /// that the vault owns and the source has renewed is held, because both renew it.
        case hold
        /// The same, but new logins belong to the vault immediately: for a source that is gone, and renews nothing.
        /// Those that the vault owns, and has not renewed yet, follow the source, too.
        case take
        /// Nothing is added. A login that the vault owns and the source has renewed is held, because both have renewed
        /// it.
        case check
        /// Like ``check``, but dead or contested logins take the source's newer tokens: the source must have been
        /// stopped.
        case adopt
        /// Nothing is changed: compares the vault with the source.
        case compare
    }

    /// The source's name in the vault, at most 64 bytes; nil for the name of its kind. Use the same name for each
    /// reading.
    public var name: String?
    public var purpose: Purpose
    /// Every change is made and rolled back.
    public var isRehearsal: Bool
    /// The tenant whose users and providers the rows name; nil for none.
    package var tenant: Tenant?

    public init(name: String? = nil, purpose: Purpose = .hold, isRehearsal: Bool = false) {
        self.name = name
        self.purpose = purpose
        self.isRehearsal = isRehearsal
    }
}
