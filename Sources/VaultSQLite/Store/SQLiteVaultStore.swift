import Platform
import Synchronization
import VaultMigrations
package import VaultStorage

/// A vault in one SQLite file, shared by all processes of the machine.
package final class SQLiteVaultStore: Sendable {
    package let context: VaultContext
    let database: Database
    /// The reason why nothing can be written; `nil` if the vault is writable.
    package let readOnlyRefusal: StoreError?
    let readers: ReaderPool
    let writer: WriterThread
    let ownerLock: OwnerLock
    let place: VaultFileIdentity
    let spoolFile: Spool
    package let changes = ChangeSignal()

    /// How many logins' rows are kept in memory if the caller does not say.
    package static let cachedLogins = 4_096

    /// - Parameters:
    ///   - cachedLogins: How many logins' rows are kept in memory, sealed; 0: none.
    ///   - opened: the connection that inspected the vault. The store's first reader takes it over.
    init(
        _ file: VaultFile, _ database: Database, _ context: VaultContext, cachedLogins: Int,
        _ opened: Connection? = nil
    ) throws(StoreError) {
        self.context = context
        let isWritable = database.access.isWritable
        readOnlyRefusal = isWritable ? nil : file.readOnlyRefusal
        let lock = isWritable ? try OwnerLock(file) : OwnerLock(readOnly: file)
        guard !isWritable || lock.isHeld else { throw FileSystem.refused("locks") }
        var database = database
        database.owners = lock
        database.hasLongSnapshot = { lock.hasLongSnapshot }
        database.announceLongReading = { [path = database.path] in
            let file = LockFile(besideVaultAt: path)
            file?.announceLongSnapshot()
            return file
        }
        opened?.owners = lock
        opened?.announceLongReading = database.announceLongReading
        self.database = database
        let place = VaultFileIdentity(file, lock, database.liveness)
        // Where nothing is written here, another machine may write.
        let cache = isWritable ? RowCache(capacity: cachedLogins, place) : nil
        let first = try OpenReader(database, context, opened, cache: cache)
        if isWritable { try place.learnFiles(first.connection) }
        readers = ReaderPool(database, context, place, cache, first: first)
        writer = WriterThread(changes) { [database] in WriteBatch(database, context, place) }
        spoolFile = Spool(at: file.spoolPath, in: file.parent, context, lock)
        ownerLock = lock
        self.place = place
    }

    deinit { close() }

    package static let schemaVersion = Migrations.all.last?.version ?? 0
    /// From the schema version that migrations start with to the one they end with.
    package static let schemaVersions = min(Migrations.all.first?.version ?? 0, schemaVersion)...schemaVersion

    package var spool: any ReplySpool { GuardedSpool(store: self) }

    /// Commits so far: with many concurrent writers there are fewer commits than changes.
    package var commitCount: Int { writer.commitCount.load(ordering: .relaxed) }

    /// Finishes pending work, and leaves intents and spooled replies to other processes.
    package func close() {
        // A fork has no writer to wait for, and a thread that does not exist here may hold a lock permanently.
        if ForkGuard.isForked { return }
        writer.close { [database, place, readers, spoolFile, ownerLock] in
            Self.close(readers, place, database.path)
            spoolFile.close()
            ownerLock.release()
        }
    }

    /// The writer's connections are closed by now. The store's last one, and perhaps the very last one, is a reader's.
    private static func close(_ readers: ReaderPool, _ place: VaultFileIdentity, _ path: String) {
        let lockFile = LockFile(besideVaultAt: path)
        lockFile?.takeClosingTurn()
        readers.close(checkpointing: place.isWhole)
        withExtendedLifetime(lockFile) {}
    }

    /// Runs on its own thread: the last operations may wait for other processes' locks, and for the disk.
    package func shutDown() async { await BlockingLane.closing.complete { self.close() } }
}
