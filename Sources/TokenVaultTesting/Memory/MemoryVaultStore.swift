import Synchronization
package import VaultStorage

/// One process's access to a ``MemoryVault``.
package final class MemoryVaultStore: VaultStore {
    private struct Readers {
        var idle: [Reader] = []
        var isClosed = false
    }

    /// The writer of this process, one transaction at a time.
    private final class Writer: @unchecked Sendable {
        let tables: MemoryTables
        let transaction: WriteTransaction

        init(_ vault: MemoryVault, _ context: VaultContext) throws(StoreError) {
            tables = vault.database.writer()
            transaction = try WriteTransaction(tables, context)
        }
    }

    package let vault: MemoryVault
    package let context: VaultContext
    package let changes = ChangeSignal()
    package let owner: Int64
    package let spool: any ReplySpool
    private let readers = Mutex(Readers())
    private let writer = Mutex<Writer?>(nil)

    init(_ vault: MemoryVault, _ context: VaultContext) {
        self.vault = vault
        self.context = context
        let owners = vault.database.owners
        owner = owners.enter()
        spool = MemorySpool(spools: vault.spools, owner: owner, owners: owners) {
            try? Reader(vault.database.reader(), context).checkForNewKeys()
            return context.primaryRoot
        }
    }

    package var longestWayToRequest: Duration? { nil }
    package var longestRenewal: Duration? { nil }
    package var ownsItsLock: Bool { vault.database.owners.isAlive(owner) }
    package var lockLoss: StoreError { .ownershipLost }
    package var readOnlyRefusal: StoreError? { nil }
    package func files() -> [FileReport] { [] }

    /// No former contents of a row remain.
    package func removeRemnants() async -> Remnants { .gone }

    /// There is no file to copy.
    package func backUp(
        _ plan: BackupPlan, _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> BackupRecord { throw StoreError.hasNoFile }
    package func pathOfBackup(_ plan: BackupPlan) throws(StoreError) -> String { throw .hasNoFile }

    package func close() {
        readers.withLock { readers in
            readers.isClosed = true
            readers.idle = []
        }
        vault.database.owners.leave(owner)
    }

    package func shutDown() async { close() }

    /// Makes this process forget the state that it has seen, as on a server once it knows that the state was lost.
    package func forgetSeen() {
        writer.withLock { $0 = nil }
        readers.withLock { $0.idle = [] }
        context.forgetSeen()
    }

    // MARK: Reading

    package func read<R>(
        _ prefetchHint: PrefetchHint, _ body: (Reader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        let reader = try take()
        defer { giveBack(reader) }
        return try reader.readNewest(body)
    }

    package func survey<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R {
        let reader = try take()
        defer { giveBack(reader) }
        return try reader.readNewest(body)
    }

    private func giveBack(_ reader: Reader) {
        readers.withLock { if !$0.isClosed { $0.idle.append(reader) } }
    }

    private func take() throws(StoreError) -> Reader {
        let idle = try readers.withLock { readers throws(StoreError) -> Reader? in
            if readers.isClosed { throw StoreError(.closed, "the vault is closed") }
            return readers.idle.popLast()
        }
        return if let idle { idle } else { try Reader(vault.database.reader(), context) }
    }

    // MARK: Writing

    package func perform(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws {
        if readers.withLock({ $0.isClosed }) { throw StoreError(.closed, "the vault is closed") }
        let dueFrom = try writer.withLock { kept in
            let writer = if let kept { kept } else { try Writer(vault, context) }
            kept = writer
            let transaction = writer.transaction
            try vault.database.write(writer.tables) { _ in
                try transaction.begin()
                try transaction.perform(body)
            }
            transaction.committed()
            return transaction.dueFrom
        }
        changes.fire(dueFrom: dueFrom)
    }
}
