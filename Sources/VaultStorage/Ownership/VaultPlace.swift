import Synchronization

/// Where an open vault lies, and what must still be so there before anything is written to it: this process is the one
/// that opened it, its descriptors are its own, and the files of these names are those that were opened.
///
/// SQLite holds on to a file that was renamed, deleted or replaced: what is written to it then is lost to everybody.
final class VaultPlace: Sendable {
    private let file: VaultFile
    private let lock: OwnerLock
    private let liveness: Liveness
    private let database: Descriptor.Identity?
    /// SQLite makes these when it needs them, and keeps them for as long as anybody has the vault open.
    private let companions: Mutex<[String: Descriptor.Identity]>

    init(_ file: VaultFile, _ lock: OwnerLock, _ liveness: Liveness) {
        self.file = file
        self.lock = lock
        self.liveness = liveness
        database = Descriptor.Identity(path: file.path)
        companions = Mutex([:])
    }

    /// Before SQLite is used to write.
    func checkProcess() throws(StoreError) {
        if !lock.isIntact { liveness.lose() }
        try liveness.check()
    }

    /// What looks like damage is none if the vault's descriptors are somebody else's by now.
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
        guard let database, let found = Descriptor.Identity(path: file.path) else {
            throw StoreError(
                .vaultMissing, "the vault's file is no longer at its place: \(file.path)",
                hint: "stop everything that uses the vault, and put the file back; nothing is written until then")
        }
        guard found == database else { throw Self.replaced(file.path) }
    }

    /// Inside a transaction, when all of SQLite's files exist, and before anything is changed.
    func checkFiles() throws(StoreError) {
        try checkDatabase()
        try companions.withLock { known throws(StoreError) in
            for suffix in ["-wal", "-shm"] {
                let found = Descriptor.Identity(path: file.path + suffix)
                if let known = known[suffix] {
                    guard found == known else { throw Self.replaced(file.path + suffix) }
                } else {
                    known[suffix] = found
                }
            }
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
            try checkFiles()
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
