import Platform
import Synchronization
import VaultStorage

/// The path of an open vault, and the conditions that must still hold before any write: this process opened the vault,
/// its descriptors are its own, and the files with these names are the ones that were opened.
///
/// SQLite keeps using a file that was renamed, deleted or replaced: anything written to it is lost.
final class VaultFileIdentity: Sendable {
    private let file: VaultFile
    /// Paths of SQLite's other two files.
    private let wal: String
    private let index: String
    private let lock: OwnerLock
    private let liveness: Liveness
    private let database: FileIdentity?
    /// SQLite creates these when it needs them, and keeps them while any process has the vault open.
    private let companions: Mutex<Companions?>

    private struct Companions: Equatable {
        let wal: FileIdentity
        let index: FileIdentity
    }

    init(_ file: VaultFile, _ lock: OwnerLock, _ liveness: Liveness) {
        self.file = file
        wal = file.path + "-wal"
        index = file.path + "-shm"
        self.lock = lock
        self.liveness = liveness
        database = FileIdentity(path: file.path)
        companions = Mutex(nil)
    }

    /// Called before SQLite is used to write.
    func checkProcess() throws(StoreError) {
        if !lock.isIntact { liveness.lose() }
        try liveness.check()
    }

    /// Apparent damage is not damage if the vault's descriptors belong to other files by now.
    func explain(_ error: StoreError) -> StoreError {
        switch error.code {
        case .io, .damaged, .notAVault, .quarantined:
            if lock.isIntact { return error }
            liveness.lose()
            return .ownershipLost
        default: return error
        }
    }

    /// Checks the vault's file itself, before a new connection's reads are trusted.
    func checkDatabase() throws(StoreError) {
        guard let database, let found = FileIdentity(path: file.path) else {
            throw StoreError(
                .vaultMissing, "the vault's file is no longer at its path: \(file.path)",
                hint: "stop everything that uses the vault, and put the file back; nothing is written until then")
        }
        guard found == database else { throw Self.replaced(file.path) }
    }

    /// Called when the first connection has all of SQLite's files open. From here on, the files that exist now are the
    /// vault's.
    func learnFiles(_ connection: Connection) throws(StoreError) {
        // SQLite opens its remaining files with the first read.
        _ = try connection.integer("SELECT count(*) FROM vault")
        try checkDatabase()
        let (found, _) = try findCompanions()
        try checkWAL(connection)
        companions.withLock { $0 = found }
    }

    /// Called when a connection has all files open, before its reads or writes count: inside a transaction, before any
    /// change.
    func checkFiles(_ connection: Connection) throws(StoreError) {
        let needed = try connection.walByteCount()
        if try checkNames() < needed { try checkWAL(connection) }
    }

    /// Whether the files with these names are still the ones found at the opening.
    ///
    /// - Returns: the size of the WAL.
    @discardableResult
    func checkNames() throws(StoreError) -> Int64 {
        try checkDatabase()
        let (found, walSize) = try findCompanions()
        guard let known = companions.withLock({ $0 }), known != found else { return walSize }
        throw Self.replaced(known.wal != found.wal ? wal : index)
    }

    private func findCompanions() throws(StoreError) -> (Companions, walSize: Int64) {
        guard let foundWAL = FileGlance(path: wal) else { throw Self.replaced(wal) }
        guard let foundIndex = FileIdentity(path: index) else { throw Self.replaced(index) }
        return (Companions(wal: foundWAL.identity, index: foundIndex), foundWAL.size)
    }

    /// The index knows of more frames than this WAL has: it has replaced another WAL, and no process would find what is
    /// written to it.
    private func checkWAL(_ connection: Connection) throws(StoreError) {
        // Others may write meanwhile, or truncate the WAL. Only what the index says both before and after the check
        // counts.
        var needed = try connection.walByteCount()
        while true {
            guard let found = FileGlance(path: wal) else { throw Self.replaced(wal) }
            if found.size >= needed { return }
            let now = try connection.walByteCount()
            guard now != needed else { throw Self.replaced(wal) }
            needed = now
        }
    }

    /// See ``OwnerLock/isWALDoubtful``.
    var isWALDoubtful: Bool {
        get { lock.isWALDoubtful }
        set { lock.isWALDoubtful = newValue }
    }

    /// Whether everything is as it was at the opening, and nothing in the WAL is in doubt.
    var isWhole: Bool {
        do throws(StoreError) {
            try checkProcess()
            try checkNames()
            return !isWALDoubtful
        } catch {
            return false
        }
    }

    /// See ``OwnerLock/isAlone``.
    var isAlone: Bool { lock.isAlone }

    func checkRoom() throws(StoreError) { try file.checkRoom() }

    private static func replaced(_ path: String) -> StoreError {
        StoreError(
            .rollbackSuspected, "a file of the vault was replaced or removed while the vault was open: \(path)",
            hint: "stop everything that uses the vault and find out who did it; this process no longer writes to it")
    }
}
