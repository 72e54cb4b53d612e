import Synchronization
import VaultMigrations

/// The vault as one SQLite file, shared by all processes of the machine.
package final class SQLiteVaultStore: Sendable {
    let context: VaultContext
    let readers: ReaderPool
    let writer: WriterThread
    let ownerLock: OwnerLock

    init(_ file: VaultFile, _ context: VaultContext) throws(StoreError) {
        self.context = context
        readers = ReaderPool(context, first: try Reader(context))
        writer = WriterThread { () throws(StoreError) in try WriteBatch(context) }
        ownerLock = try OwnerLock(file)
    }

    deinit { writer.close() }

    package static let schemaVersion = Migrations.all.last?.version ?? 0

    /// Commits so far: with many writers at once there are fewer of them than changes.
    package var commitCount: Int { writer.commitCount.load(ordering: .relaxed) }

    func write<R: Sendable>(_ body: @escaping @Sendable (WriteTransaction) throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            writer.submit(BodyOperation(continuation, body))
        }
    }
}
