import Platform
import Synchronization
package import VaultStorage

/// A vault in a schema of a PostgreSQL database, shared by processes of several machines.
package final class PostgreSQLVaultStore: Sendable {
    package let context: VaultContext
    package let address: ServerAddress
    package let changes = ChangeSignal()
    let readers: ServerReaders
    private let threads = ReadingThreads(limit: ServerReaders.limit)
    let writer: WriterThread
    let lock: ProcessLock
    private let local: LocalProcesses
    let watch: TimelineTracker
    private let notePath: String
    private let spoolFile: Spool

    /// - Parameter opened: the connection that inspected the vault. The store's first reader takes it over.
    init(
        _ address: ServerAddress, _ state: StateDirectory, _ context: VaultContext, _ opened: ServerConnection,
        _ timeouts: FailoverTimeouts = .init()
    ) throws(StoreError) {
        self.address = address
        self.context = context
        let directory = try state.directory(of: context.vaultID)
        let watch = TimelineTracker()
        let tables = ServerTables(opened, address, .unknown)
        let (isSettled, place) = try tables.whereabouts(watch)
        notePath = MachineNote.path(in: directory, address, place: place)
        // Knowledge from before all logins were held no longer counts.
        let note = MachineNote(at: notePath).flatMap { $0.incarnation < context.incarnation ? nil : $0 }
        let isOlder = note?.isAhead(of: tables, context, watch) ?? false
        self.watch = watch
        let lock = try ProcessLock(address, watch)
        self.lock = lock
        local = try Self.enter(lock, directory)
        let peers = PeerLiveness(own: lock.owner) { [local] in local.hasEnded($0) }
        spoolFile = Spool(at: "\(directory)/spool", in: directory, context, local)
        let first = try OpenReader(ServerTables(opened, address, peers), context)
        readers = ServerReaders(address, context, peers, watch, first: first)
        let known = note.map { FailoverSettlement.Knowledge(head: $0.head, incarnation: $0.incarnation) }
        let writer = WriterThread(changes) {
            ServerWriteBatch(address, context, peers, watch, timeouts: timeouts, known: known)
        }
        self.writer = writer
        watch.onUnsettled { [weak writer] in writer?.submit(TimelineCheck()) }
        if !isSettled || isOlder { try Self.settle(by: writer) }
        watch.onRemembering { [weak watch, context, notePath, owner = lock.owner] in
            if let watch { MachineNote.keep(watch, context, at: notePath, by: owner) }
        }
    }

    deinit { close() }

    /// Waits until it is known what a failover or a restore has lost.
    private static func settle(by writer: WriterThread) throws(StoreError) {
        let look = TimelineCheck()
        writer.submit(look)
        try look.wait()
    }

    private static func enter(_ lock: ProcessLock, _ directory: String) throws(StoreError) -> LocalProcesses {
        do throws(StoreError) { return try LocalProcesses(lock.owner, in: directory) } catch {
            lock.release()
            throw error
        }
    }

    package static var schemaVersions: ClosedRange<Int> { 1...SchemaVersion.known }

    /// Commits so far: with many concurrent writers there are fewer commits than changes.
    package var commitCount: Int { writer.commitCount.load(ordering: .relaxed) }

    package func close() {
        // A fork has no writer to wait for, and a thread that does not exist here may hold a lock permanently.
        if ForkGuard.isForked { return }
        lock.sayFarewell()
        writer.close { [readers, threads, spoolFile, local, lock, watch, context, notePath] in
            // Pending changes have been committed meanwhile.
            lock.sayFarewell()
            MachineNote.keep(watch, context, at: notePath, by: lock.owner)
            readers.close()
            threads.close()
            spoolFile.close()
            local.leave(isFinished: lock.release())
        }
    }
}

extension PostgreSQLVaultStore: VaultStore {
    package func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try readers.requireOpen()
        if let result = try readers.readAtOnce(prefetchHint, body) { return result }
        return try await withTaskExecutorPreference(threads) { () async throws(StoreError) -> R in
            try readers.read(body)
        }
    }

    package func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R {
        try readers.requireOpen()
        return try await BlockingLane.care.run { [readers] in try readers.survey(body) }
    }

    package func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        if ForkGuard.isForked { throw StoreError.ownershipLost }
        await changes.arrivals.settled()
        try await writer.perform(prefetchHint, body)
    }

    package var owner: Int64 { lock.owner }
    package var ownsItsLock: Bool { lock.isHeld }
    package var lockLoss: StoreError {
        ForkGuard.isForked
            ? .ownershipLost
            : StoreError(
                .busy,
                "the database server was out of reach for so long that other processes may take this one for dead",
                hint: "it passes when the server is reached again")
    }
    package var longestWayToRequest: Duration? { OwnershipRules.longestWayToRequest }
    package var longestRenewal: Duration? { OwnershipRules.longestRenewal }
    package var readOnlyRefusal: StoreError? { nil }
    package var spool: any ReplySpool { ServerSpool(store: self, file: spoolFile) }

    package func files() -> [FileReport] { [] }

    /// Former contents of rows stay in the server's files until they are vacuumed and overwritten, and in its log and
    /// its standbys for as long as these are kept.
    package func removeRemnants() async -> Remnants {
        .kept(
            StoreError(
                .invalidValue, "the database server keeps former states of rows until it has vacuumed them",
                hint: "run VACUUM in the database; the server's log and backups keep them longer"))
    }

    package func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> BackupRecord { throw StoreError.isBackedUpByServer }

    package func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String { throw .isBackedUpByServer }

    package func shutDown() async { await BlockingLane.closing.complete { self.close() } }
}

extension StoreError {
    fileprivate static var isBackedUpByServer: StoreError {
        StoreError(
            .invalidValue, "this vault is backed up with its database",
            hint: "use pg_basebackup, or your server's own backups; see docs/postgresql.md for what a restore means")
    }
}
