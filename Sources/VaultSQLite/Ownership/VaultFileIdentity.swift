import Platform
import Synchronization
import VaultStorage

/// Where an open vault lies, and what must still be so there before anything is written to it: this process is the one
/// that opened it, its descriptors are its own, and the files of these names are those that were opened.
///
/// SQLite holds on to a file that was renamed, deleted or replaced: what is written to it then is lost.
final class VaultFileIdentity: Sendable {
    private let file: VaultFile
    /// Paths of SQLite's other two files.
    private let wal: String
    private let index: String
    private let lock: OwnerLock
    private let liveness: Liveness
    private let database: FileIdentity?
    /// SQLite makes these when it needs them, and keeps them for as long as anybody has the vault open.
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

    /// Before SQLite is used to write.
    func checkProcess() throws(StoreError) {
        if !lock.isIntact { liveness.lose() }
        try liveness.check()
    }

    /// What looks like damage is none if the vault's descriptors belong to other files by now.
    func explain(_ error: StoreError) -> StoreError {
        switch error.code {
        case .io, .damaged, .notAVault, .quarantined:
            if lock.isIntact { return error }
            liveness.lose()
            return .ownershipLost
        default: return error
        }
    }

    /// The vault's file itself; before what a new connection reads is believed.
    func checkDatabase() throws(StoreError) {
        guard let database, let found = FileIdentity(path: file.path) else {
            throw StoreError(
                .vaultMissing, "the vault's file is no longer at its place: \(file.path)",
                hint: "stop everything that uses the vault, and put the file back; nothing is written until then")
        }
        guard found == database else { throw Self.replaced(file.path) }
    }

    /// When the first connection has all of SQLite's files open: what lies there now is what belongs to the vault from
    /// here on.
    func learnFiles(_ connection: Connection) throws(StoreError) {
        // With the first read SQLite opens what it has not opened yet.
        _ = try connection.integer("SELECT count(*) FROM vault")
        try checkDatabase()
        let found = try findCompanions()
        try checkWAL(connection)
        companions.withLock { $0 = found }
    }

    /// When a connection has all files open, and before what it reads or writes counts: inside a transaction, before
    /// anything is changed.
    func checkFiles(_ connection: Connection) throws(StoreError) {
        try checkNames()
        try checkWAL(connection)
    }

    /// Whether the files of these names are those that were met at the opening.
    func checkNames() throws(StoreError) {
        try checkDatabase()
        let found = try findCompanions()
        guard let known = companions.withLock({ $0 }), known != found else { return }
        throw Self.replaced(known.wal != found.wal ? wal : index)
    }

    private func findCompanions() throws(StoreError) -> Companions {
        guard let foundWAL = FileIdentity(path: wal) else { throw Self.replaced(wal) }
        guard let foundIndex = FileIdentity(path: index) else { throw Self.replaced(index) }
        return Companions(wal: foundWAL, index: foundIndex)
    }

    /// A WAL of which the index knows more than it has was put in the place of another one: no process would find what
    /// is written to it.
    private func checkWAL(_ connection: Connection) throws(StoreError) {
        // Others may write meanwhile, or cut the WAL off: only what the index says before and after the look counts.
        var needed = try connection.walByteCount()
        while true {
            guard let found = try? FileStatus(at: wal) else { throw Self.replaced(wal) }
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

    /// Whether everything is as it was when the vault was opened, and nothing in the WAL is in doubt.
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
            hint: "stop everything that uses the vault and find out who did it; this process writes to it no more")
    }
}
