import Platform
import VaultStorage

/// A vault where nothing can be written: on a file system that is mounted read-only, such as a snapshot or a mounted
/// backup, or in a directory that this user may only read. It can be read and verified.
extension VaultFile {
    var isMountedReadOnly: Bool { Volume(of: parent)?.isReadOnly ?? false }

    /// Whether a file that is there can no longer be opened for writing, though its mode allows it. A kernel lets a file system
    /// turn so where a disk has failed, and need not say that it is mounted read-only.
    static func hasTurnedReadOnly(_ lockPath: String) -> Bool {
        do throws(SystemError) {
            _ = try Descriptor(lockPath, for: .readingAndWriting, .notThroughLink)
            return false
        } catch {
            return error == .readOnlyFileSystem
        }
    }

    /// Why the vault cannot be written here; `nil` if it can be.
    var readOnlyRefusal: StoreError? {
        if isMountedReadOnly {
            return StoreError(
                .readOnly, "the file system is mounted read-only: the vault can be read, and not changed",
                hint: "mount it writable, or stop all that use the vault and copy it to another place")
        }
        if Self.hasTurnedReadOnly(lockPath) { return .turnedReadOnly }
        // A process that changes a vault must show in its lock file that it lives.
        let isLockable =
            FileIdentity(path: lockPath) != nil
            ? NamedFile(lockPath).allows(.writing) : NamedFile(parent).allows(.changing)
        if isLockable { return nil }
        return StoreError(
            .readOnly, "the vault's directory cannot be written by this user: the vault can be read, and not changed",
            hint: "check owner and mode of \(parent)")
    }

    /// How SQLite opens the vault here.
    ///
    /// SQLite reads a log only with an index of it in shared memory. Where that file is there it can be read, whether
    /// or not a process writes to the vault through another mount; where it is not, no process has the vault open.
    func access() throws(StoreError) -> Connection.Access {
        guard readOnlyRefusal != nil else { return .readWrite }
        let log = try? FileStatus(at: path + "-wal")
        if log != nil, FileIdentity(path: path + "-shm") != nil { return .readOnly }
        guard log.map({ $0.size == 0 }) ?? true else {
            throw StoreError(
                .readOnly,
                "the vault's log holds changes, and cannot be read where nothing can be written: \(path)-wal",
                hint: "copy the vault and its log, as \(name) and \(name)-wal, to a directory that can be written")
        }
        return .immutable
    }

    func connect(_ liveness: Liveness? = nil) throws(StoreError) -> Connection {
        try Connection(path: path, access: access(), liveness: liveness)
    }
}
