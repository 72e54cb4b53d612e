import CSQLite
import Glibc

/// Where a vault lies, and whether it may lie there.
///
/// The file is never opened here while SQLite may have it open: closing it would drop all POSIX locks of the process.
struct VaultFile: Sendable {
    /// Without symbolic links.
    let path: String
    private let directory: String

    init(_ path: String) throws(StoreError) {
        // SQLite would share with the parent's connections what it knows of their locks.
        if ForkGuard.isForked { throw .ownershipLost }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.unsafeFile, "the path of the vault is empty or holds a NUL", hint: "check the path")
        }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard !name.isEmpty, name != ".", name != ".." else {
            throw StoreError(.unsafeFile, "the path of the vault names a directory", hint: "name a file in it")
        }
        guard let resolved = unsafe realpath(parent, nil) else {
            throw StoreError(
                .vaultMissing, "the directory of the vault does not exist: \(parent)",
                hint: "make it with mode 0700, or check the path")
        }
        defer { unsafe free(resolved) }
        directory = unsafe String(cString: resolved)
        self.path = directory == "/" ? "/" + name : directory + "/" + name
    }

    var lockPath: String { path + ".lock" }

    var exists: Bool {
        var info = stat()
        return unsafe lstat(path, &info) == 0
    }

    /// Refuses a place or a file that others could read, write, exchange or lock.
    func check() throws(StoreError) {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else {
            if errno == ENOENT {
                throw StoreError(
                    .vaultMissing, "there is no vault at \(path)",
                    hint: "check the path, or make one with `vaultctl init`")
            }
            throw StoreError(.io(errno), "the vault at \(path) cannot be looked at", hint: "check the permissions")
        }
        try checkDirectory()
        try Self.check(info, path)
    }

    /// Refuses a directory in which others could exchange the file.
    func checkDirectory() throws(StoreError) {
        var info = stat()
        guard unsafe stat(directory, &info) == 0 else {
            throw StoreError(.vaultMissing, "the directory of the vault does not exist: \(directory)")
        }
        guard info.st_uid == geteuid() || info.st_uid == 0 else {
            throw Self.unsafe(
                "its directory belongs to another user", "use a directory of your own, or `chown` it: \(directory)")
        }
        guard info.st_mode & 0o022 == 0 || info.st_mode & mode_t(S_ISVTX) != 0 else {
            throw Self.unsafe("others may write to its directory", "run `chmod go-w \(directory)`")
        }
        try checkFileSystem()
    }

    private func checkFileSystem() throws(StoreError) {
        let networked: [UInt32: String] = [
            0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x7461_636f: "OCFS2",
            0x5346_414F: "AFS", 0x00C3_6400: "Ceph", 0x7375_7245: "Coda",
        ]
        guard let name = networked[UInt32(truncatingIfNeeded: unsafe vault_file_system_magic(directory))] else {
            return
        }
        throw Self.unsafe(
            "it lies on a network file system (\(name)), where SQLite's locks cannot be trusted",
            "put the vault on a local disk")
    }

    /// Judges the file that is open, not what its path leads to by now.
    static func check(descriptor: Int32, _ path: String) throws(StoreError) {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw StoreError(.io(errno), "\(path) cannot be read") }
        try check(info, path)
    }

    static func check(_ info: stat, _ path: String) throws(StoreError) {
        guard info.st_mode & S_IFMT != S_IFLNK else {
            throw unsafe("it is a symbolic link", "name the file itself: \(path)")
        }
        guard info.st_mode & S_IFMT == S_IFREG else {
            throw unsafe("it is not a regular file", "check the path: \(path)")
        }
        guard info.st_uid == geteuid() else {
            throw unsafe("it belongs to another user", "run as its owner, or `chown` it: \(path)")
        }
        guard info.st_mode & 0o077 == 0 else {
            throw unsafe("others may read or write it", "run `chmod 600 \(path)`")
        }
        guard info.st_nlink == 1 else {
            throw unsafe("it has more than one name (hard link)", "remove the other names: \(path)")
        }
    }

    /// What the commits of one renewal take from the file system at most, with something to spare.
    private static let leastRoom: UInt64 = 256 * 1024

    /// Refuses to begin what could not be stored in the end.
    func checkRoom() throws(StoreError) {
        var info = statvfs()
        // A file system that does not tell is not believed to be full.
        guard unsafe statvfs(directory, &info) == 0, info.f_blocks > 0 else { return }
        let blocks = geteuid() == 0 ? info.f_bfree : info.f_bavail
        guard UInt64(blocks) * UInt64(info.f_frsize) >= Self.leastRoom else { throw StoreError.diskFull }
    }

    /// A new empty file that only its owner may use, made before SQLite sees it: SQLite gives its mode to the other
    /// files of the vault.
    func create() throws(StoreError) {
        try checkDirectory()
        let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.creationError(errno, path) }
        fchmod(descriptor, 0o600)
        close(descriptor)
    }

    static func creationError(_ error: Int32, _ path: String) -> StoreError {
        switch error {
        case EEXIST:
            StoreError(
                .vaultExists, "there is a file at \(path) already", hint: "choose another path; nothing is overwritten")
        case ENOSPC, EDQUOT: .diskFull
        case EROFS, EACCES, EPERM:
            StoreError(.readOnly, "no file can be made at \(path)", hint: "check the directory's owner and mode")
        default: StoreError(.io(error), "no file can be made at \(path) (system error \(error))")
        }
    }

    static func unsafe(_ reason: String, _ hint: String) -> StoreError {
        StoreError(.unsafeFile, "the vault is refused: \(reason)", hint: hint)
    }

    /// Makes a file and its name durable. Only for files that SQLite does not have open.
    static func synchronize(_ path: String, directory: String) throws(StoreError) {
        try synchronize(path, O_RDONLY)
        try synchronizeDirectory(directory)
    }

    /// Makes the names in a directory durable.
    static func synchronizeDirectory(_ path: String) throws(StoreError) {
        try synchronize(path, O_RDONLY | O_DIRECTORY)
    }

    private static func synchronize(_ path: String, _ flags: Int32) throws(StoreError) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError(.io(errno), "\(path) cannot be read back") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreError(.io(errno), "\(path) cannot be made durable") }
    }

    var parent: String { directory }
}
