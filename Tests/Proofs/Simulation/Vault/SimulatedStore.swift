import TokenVaultTesting
import VaultPostgreSQL
import VaultStorage

/// One simulated process's way to the vault: the real store, where others may come in between and writes may fail.
final class SimulatedStore: VaultStore, @unchecked Sendable {
    /// What happens to one durable write.
    enum Fault: Sendable {
        /// Nothing was written.
        case before
        /// It was written, and reported as failed.
        case after
    }

    enum Write: Sendable, Hashable {
        case commit, spool, unspool
    }

    private let base: MemoryVaultStore
    private let ledger: VaultLedger
    /// nil: the vault is on the same machine.
    private let way: VaultWay?
    /// What happens to the next write of this kind.
    var fault: @Sendable (Write) -> Fault? = { _ in nil }
    /// Where others may come in: before and after each transaction.
    var pause: @Sendable () async -> Void = {}
    /// How often the vault had been put back when this process last heard of it, and how often it has been.
    private var heardOfPutBacks = 0
    var putBacks: @Sendable () -> (count: Int, isHeld: Bool) = { (0, true) }

    init(_ base: MemoryVaultStore, _ ledger: VaultLedger, _ way: VaultWay? = nil) {
        self.base = base
        self.ledger = ledger
        self.way = way
    }

    var context: VaultContext { base.context }
    var changes: ChangeSignal { base.changes }
    var owner: Int64 { base.owner }
    var ownsItsLock: Bool { way.map(\.isSeen) ?? base.ownsItsLock }
    var lockLoss: StoreError { base.lockLoss }
    var longestWayToRequest: Duration? { way == nil ? nil : OwnershipRules.longestWayToRequest }
    var longestRenewal: Duration? { way == nil ? nil : OwnershipRules.longestRenewal }
    var readOnlyRefusal: StoreError? { base.readOnlyRefusal }
    var spool: any ReplySpool { SimulatedSpool(store: self, base: base.spool, ledger: ledger, way: way) }
    func files() -> [FileReport] { base.files() }
    func removeRemnants() async -> Remnants { await base.removeRemnants() }
    func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (Int, Int) -> Void
    ) async throws -> BackupRecord { try await base.backUp(plan, progress) }
    func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String { try base.pathOfBackup(plan) }
    func close() {
        base.close()
        way?.leave()
    }
    func shutDown() async { close() }

    func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        guard let way else { return try await base.read(prefetchHint, body) }
        try await way.arrive()
        try await takePutBack()
        let result: Result<R, StoreError>
        do throws(StoreError) { result = .success(try await base.read(prefetchHint, body)) } catch {
            result = .failure(error)
        }
        guard await way.hear() else { throw .unreachable }
        return try result.get()
    }

    func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R {
        try await base.survey(body)
    }

    func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        await way?.beginWriting()
        defer { way?.endWriting() }
        await pause()
        try await way?.arrive()
        try await takePutBack()
        let fault = fault(.commit)
        let result: Result<Void, any Error>
        do {
            try await base.perform(prefetchHint) { transaction in
                try body(transaction)
                if fault == .before { throw StoreError(.full, "the disk is full") }
            }
            ledger.look(by: owner)
            result =
                await isKnown(fault)
                ? .success(()) : .failure(StoreError(.io(1), "the commit is not known to be durable"))
        } catch {
            result = .failure(error)
        }
        await pause()
        try result.get()
    }
}

extension SimulatedStore {
    /// The first process to come after the vault was put back holds all logins before it does anything else: it, or its
    /// machine, knows of more than is there. Each process forgets what is lost.
    private func takePutBack() async throws(StoreError) {
        let (count, isHeld) = putBacks()
        guard count != heardOfPutBacks else { return }
        heardOfPutBacks = count
        base.forgetSeen()
        if isHeld { return }
        do {
            try await base.perform(.nothing) { transaction in
                try transaction.holdAllLogins(AuditEvent(.failoverSettled))
            }
        } catch {
            throw error as? StoreError ?? .unreachable
        }
        ledger.look(by: owner)
    }

    /// Whether this process finds out that its commit has happened.
    private func isKnown(_ fault: Fault?) async -> Bool {
        let time = ledger.observer?.now
        var isKnown = fault != .after
        if let way {
            if isKnown { isKnown = await way.hear() }
            if !isKnown { isKnown = await way.settle() }
        }
        if !isKnown, let time { ledger.observer?.commitUnknown(by: owner, at: time) }
        return isKnown
    }
}

/// The same for the replies that the vault could not take.
private struct SimulatedSpool: ReplySpool {
    let store: SimulatedStore
    let base: any ReplySpool
    let ledger: VaultLedger
    let way: VaultWay?

    func prepare(for count: Int) throws(StoreError) { try base.prepare(for: count) }

    func add(_ reply: SpooledReply) throws(StoreError) -> SpoolHandle {
        let fault = store.fault(.spool)
        if fault == .before { throw StoreError(.full, "the disk is full") }
        let handle = try base.add(reply)
        ledger.observer?.spooled(reply, by: store.owner)
        if fault == .after { throw StoreError(.io(1), "the entry is not known to be durable") }
        return handle
    }

    func remove(_ handle: SpoolHandle) throws(StoreError) {
        let fault = store.fault(.unspool)
        if fault != .before { try base.remove(handle) }
        if fault != nil { throw StoreError(.io(1), "the entry is not known to be gone") }
    }

    func listings() throws(StoreError) -> [SpoolListing] {
        try base.listings().filter { way?.finds($0.owner) ?? true }
    }
    func depth() throws(StoreError) -> SpoolDepth { try base.depth() }
    func roots() throws(StoreError) -> [SpooledRoot] { try base.roots() }
}
