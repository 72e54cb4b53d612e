import Synchronization
import TokenVaultTesting
import Testing
import VaultAdministration

@testable import TokenVault
@testable import VaultPostgreSQL
@testable import VaultSQLite
@testable import VaultStorage

/// A store whose next commits of logins fail as told, with a spool of its own; everything else passes through.
final class FaultyStore: VaultStore {
    enum Fault: Sendable {
        /// Nothing was written.
        case before
        /// It was written, and reported as failed.
        case after
        /// Nothing is written any more: others take this process for dead.
        case lost
    }

    fileprivate final class SharedState: Sendable {
        private let state = Mutex(State())

        func withLock<R>(_ body: (inout sending State) throws -> sending R) rethrows -> sending R {
            try state.withLock(body)
        }
    }

    fileprivate struct State {
        var skip = 0
        var faults: [Fault] = []
        var failed = 0
        var spoolFails = false
        var lockLoss: StoreError?
        var commits = 0
        var afterCommit: (@Sendable (Int) async -> Void)?
        var beforeUpdate: (@Sendable () async -> Void)?
        var beforeStatistics: (@Sendable () -> Void)?
        var looks = 0
        var beforeSending: (@Sendable (Int) -> Void)?
        var beforeReading: (@Sendable () async throws(StoreError) -> Void)?
    }

    private let base: any VaultStore
    let spool: any ReplySpool
    private let state: SharedState

    init(_ base: any VaultStore, spool files: MemorySpools? = MemorySpools()) {
        self.base = base
        let state = SharedState()
        self.state = state
        spool = FaultySpool(base: base, files: files, state: state)
    }

    /// Whether the spool fails as well.
    var spoolFails: Bool {
        get { state.withLock { $0.spoolFails } }
        set { state.withLock { $0.spoolFails = newValue } }
    }

    /// As after a host's `closefrom()`.
    func loseLock(_ loss: StoreError = .ownershipLost) { state.withLock { $0.lockLoss = loss } }

    /// Runs between a commit of a login and what the renewal does next, with the commit's number from 1 on.
    func afterCommit(_ action: (@Sendable (Int) async -> Void)?) {
        state.withLock { state in
            state.commits = 0
            state.afterCommit = action
        }
    }

    /// Runs before each change of the vault.
    func beforeUpdate(_ action: (@Sendable () async -> Void)?) {
        state.withLock { $0.beforeUpdate = action }
    }

    /// Runs before everything is counted.
    func beforeStatistics(_ action: (@Sendable () -> Void)?) {
        state.withLock { $0.beforeStatistics = action }
    }

    /// Runs while a renewal of this process looks at its login for the last time before it sends; with the number of the look
    /// from 1 on.
    func beforeSending(_ action: (@Sendable (Int) -> Void)?) {
        state.withLock { state in
            state.looks = 0
            state.beforeSending = action
        }
    }

    /// Runs before anything is read. What it throws, the reader gets.
    func beforeReading(_ action: (@Sendable () async throws(StoreError) -> Void)?) {
        state.withLock { $0.beforeReading = action }
    }

    private func committed() async {
        let (commit, action) = state.withLock { state in
            state.commits += 1
            return (state.commits, state.afterCommit)
        }
        await action?(commit)
    }

    /// Lets so many commits pass, then fails the next ones.
    func fail(_ faults: [Fault], afterCommits skip: Int) {
        state.withLock { state in
            state.skip = skip
            state.faults = faults
            state.failed = 0
        }
    }

    var failedCommits: Int { state.withLock { $0.failed } }

    private func nextFault() -> Fault? {
        state.withLock { state in
            if state.skip > 0 {
                state.skip -= 1
                return nil
            }
            guard !state.faults.isEmpty else { return nil }
            state.failed += 1
            return state.faults.removeFirst()
        }
    }

    func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try await state.withLock({ $0.beforeReading })?()
        let result = try await base.read(prefetchHint, body)
        guard let intent = (result as? StoredLogin)?.intent, intent.owner == owner, intent.tries > 0 else {
            return result
        }
        let (look, action) = state.withLock { state in
            state.looks += 1
            return (state.looks, state.beforeSending)
        }
        action?(look)
        return result
    }

    func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R {
        try await base.survey { [state] reader in
            if R.self == StoreStatistics.self { state.withLock({ $0.beforeStatistics })?() }
            return try body(reader)
        }
    }

    /// Faults come to what changes a row: they happen when all of it has been written, before the commit or after it.
    func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        await state.withLock({ $0.beforeUpdate })?()
        // An engine may run a body again, whose fault is the same then.
        let decided = Mutex<Fault??>(nil)
        let (hasChanged, fault) = try await base.write(prefetchHint) { [self] transaction in
            let before = try Self.changes(in: transaction)
            try body(transaction)
            guard try Self.changes(in: transaction) != before else { return (false, nil as Fault?) }
            let fault = decided.withLock { decided in
                if let decided { return decided }
                let fault = nextFault()
                decided = .some(fault)
                return fault
            }
            switch fault {
            case .before: throw StoreError(.full, "the disk is full")
            case .lost: throw StoreError(.ownershipLost, "the lock is gone")
            case .after, nil: return (true, fault)
            }
        }
        if fault != nil { throw StoreError(.io(1), "the commit is not known to be durable") }
        if hasChanged { await committed() }
    }

    /// Rows that the transaction has changed so far, or changes that it has sent.
    private static func changes(in transaction: WriteTransaction) throws -> Int {
        if let tables = transaction.tables as? ServerTables { return tables.recordedCount }
        return try Int(#require(transaction.tables as? Connection).totalChanges)
    }

    var context: VaultContext { base.context }
    var changes: ChangeSignal { base.changes }
    var owner: Int64 { base.owner }
    var longestWayToRequest: Duration? { base.longestWayToRequest }
    var longestRenewal: Duration? { base.longestRenewal }
    var ownsItsLock: Bool { state.withLock { $0.lockLoss == nil } && base.ownsItsLock }
    var lockLoss: StoreError { state.withLock { $0.lockLoss } ?? .ownershipLost }
    var readOnlyRefusal: StoreError? { base.readOnlyRefusal }
    func files() -> [FileReport] { base.files() }
    func removeRemnants() async -> Remnants { await base.removeRemnants() }
    func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (Int, Int) -> Void
    ) async throws -> BackupRecord { try await base.backUp(plan, progress) }
    func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String { try base.pathOfBackup(plan) }
    func close() { base.close() }
    func shutDown() async { await base.shutDown() }
}

/// A spool that can fail, in memory or in its files.
private struct FaultySpool: ReplySpool {
    let base: any VaultStore
    /// Nil: the real one.
    let files: MemorySpools?
    let state: FaultyStore.SharedState

    func prepare(for count: Int) throws(StoreError) { if files == nil { try base.spool.prepare(for: count) } }

    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        guard !state.withLock({ $0.spoolFails }) else {
            throw StoreError(.full, "the disk of the spool is full too")
        }
        guard let files else { return try base.spool.add(reply) }
        return files.add(reply, owner: base.owner, root: base.context.primaryRoot)
    }

    func remove(_ handle: SpoolHandle) throws(StoreError) {
        guard let files else { return try base.spool.remove(handle) }
        files.remove(handle)
    }

    func listings() throws(StoreError) -> [SpoolListing] {
        guard let files else { return try base.spool.listings() }
        return files.entries.filter { $0.owner == base.owner || !base.showsAlive($0.owner) }
    }

    func depth() throws(StoreError) -> SpoolDepth { try base.spool.depth() }
    func roots() throws(StoreError) -> [SpooledRoot] { if let files { files.roots } else { try base.spool.roots() } }
}

extension VaultStore {
    /// Whether others would see this process as alive. What is neither in a file nor on a server has no others.
    func showsAlive(_ owner: Int64) -> Bool {
        if let server = self as? PostgreSQLVaultStore {
            return (try? server.readers.read { reader in reader.tables.isOwnerAlive(owner) }) ?? true
        }
        return (self as? SQLiteVaultStore)?.isOwnerAlive(owner) ?? (owner == self.owner)
    }
}
