import Platform
import VaultStorage

/// A vault that cannot be written: on a file system that is mounted read-only, such as a snapshot or a mounted backup,
/// or in a directory that this user may only read. It can be read and verified.
extension VaultFile {
    var isMountedReadOnly: Bool { Volume(of: parent)?.isReadOnly ?? false }

    /// Whether an existing file can no longer be opened for writing although its mode allows it. When a disk fails, the
    /// kernel may make its file system read-only without reporting it as mounted read-only.
    static func hasTurnedReadOnly(_ lockPath: String) -> Bool {
        do throws(SystemError) {
            _ = try Descriptor(lockPath, for: .readingAndWriting, .notThroughLink)
            return false
        } catch {
            return error == .readOnlyFileSystem
        }
    }

    /// The reason why the vault cannot be written here; `nil` if it can be.
    var readOnlyRefusal: StoreError? {
        if isMountedReadOnly {
            return StoreError(
                .readOnly, "the file system is mounted read-only: the vault can be read, and not changed",
                hint: "mount it writable, or stop all that use the vault and copy it to another place")
        }
        if Self.hasTurnedReadOnly(lockPath) { return .turnedReadOnly }
        // A process that changes a vault must show in the lock file that it is alive.
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
    /// SQLite reads a log only with the log's index in shared memory. Where that file exists, it can be read, whether
    /// or not a process writes to the vault through another mount. Where it does not, no process has the vault open.
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
