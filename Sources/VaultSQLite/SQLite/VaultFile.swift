import Platform
import VaultStorage

/// The path of a vault, and whether a vault may be there.
///
/// The file is never opened here while SQLite may have it open: closing it would drop all POSIX locks of the process.
struct VaultFile: Sendable {
    /// Without symbolic links.
    let path: String
    /// The last component of the path.
    let name: String
    private let directory: String
    /// Whether a file system that is not known to be local may be used, if it behaves like a local one.
    private let trustsFileSystem: Bool

    init(_ path: String, trustsFileSystem: Bool = false) throws(StoreError) {
        // SQLite would share its view of their locks with the parent's connections.
        if ForkGuard.isForked { throw .ownershipLost }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.unsafeFile, "the path of the vault is empty or holds a NUL", hint: "check the path")
        }
        let parent = PathName.directory(of: path)
        let name = PathName.lastPart(of: path)
        guard !name.isEmpty, name != ".", name != ".." else {
            throw StoreError(
                .unsafeFile, "\(PathName.shown(path)) names a directory, and a vault is a file",
                hint: "name a file in it")
        }
        guard let resolved = NamedFile(parent).resolved else {
            throw StoreError(
                .vaultMissing, "the directory of the vault does not exist: \(parent)",
                hint: "make it with mode 0700, or check the path")
        }
        directory = resolved
        self.name = name
        self.trustsFileSystem = trustsFileSystem
        self.path = directory == "/" ? "/" + name : directory + "/" + name
    }

    var lockPath: String { path + ".lock" }
    var spoolPath: String { path + ".spool" }

    /// Whether there is a non-empty WAL.
    var hasWAL: Bool {
        ((try? FileStatus(at: path + "-wal"))?.size ?? 0) > 0
    }

    var exists: Bool { FileIdentity(path: path) != nil }

    /// Refuses a path or a file that others could read, write, replace or lock.
    func check() throws(StoreError) {
        let status: FileStatus
        do throws(SystemError) { status = try FileStatus(at: path) } catch {
            if error == .notFound {
                let remains = VaultRemains(of: path)
                throw StoreError(
                    .vaultMissing, "there is no vault at \(path)" + (remains.map { "; \($0.words)" } ?? ""),
                    hint: remains?.hints.joined(separator: "; ") ?? "check the path, or make one with `vaultctl init`")
            }
            throw StoreError(.io(error), "the vault at \(path) cannot be looked at", hint: "check the permissions")
        }
        try checkDirectory()
        try PrivateFile.check(status, path)
        try checkCompanions()
    }

    /// Refuses a directory in which others could replace the file, or create one that SQLite takes for the vault's.
    func checkDirectory() throws(StoreError) {
        try checkDirectoryAccess()
        try checkFileSystem()
    }

    func checkDirectoryAccess() throws(StoreError) {
        guard let status = try? FileStatus(at: directory, followingLinks: true) else {
            throw StoreError(.vaultMissing, "the directory of the vault does not exist: \(directory)")
        }
        guard status.isOursOrRoots else {
            throw PrivateFile.refused(
                "its directory belongs to another user", "use a directory of your own, or `chown` it: \(directory)")
        }
        guard status.permissions & 0o022 == 0 else {
            throw PrivateFile.refused(
                "others may write to its directory",
                status.isSticky
                    ? "make a directory of your own for it: mkdir -m 700 '\(directory)/vault'"
                    : "run `chmod go-w \(directory)`")
        }
    }

    func checkFileSystem() throws(StoreError) {
        try FileSystem(of: directory).check(isTrusted: trustsFileSystem, directory, isReadOnly: isMountedReadOnly)
    }

    /// Checks that SQLite's locks and shared memory work here as required, whatever the file system's type.
    func proveFileSystem() throws(StoreError) {
        if !isMountedReadOnly { try FileSystem.prove(directory) }
    }

    static let companions: [(suffix: String, name: String)] = [
        ("-wal", "its log"), ("-shm", "its shared memory"), ("-journal", "its rollback journal"),
        (".lock", "its lock file"),
    ]

    /// Refuses companion files that others could change or have planted.
    private func checkCompanions() throws(StoreError) {
        for (suffix, name) in Self.companions {
            guard let status = try? FileStatus(at: path + suffix) else { continue }
            try PrivateFile.check(status, path + suffix, name)
        }
        if let status = try? FileStatus(at: spoolPath) { try checkSpool(status) }
    }

    func checkSpool(_ status: FileStatus) throws(StoreError) {
        guard status.kind == .directory else {
            throw PrivateFile.refused("its spool is not a directory", "move it away: \(spoolPath)")
        }
        guard status.isOurs, status.permissions & 0o077 == 0 else {
            throw PrivateFile.refused(
                "its spool directory belongs to another user or is accessible to others",
                "run `chown` or `chmod 700 \(spoolPath)`")
        }
    }

    /// The maximum space that the commits of one renewal need, with a margin.
    private static let leastRoom: UInt64 = 256 * 1024

    /// Refuses to begin work whose result could not be stored.
    func checkRoom() throws(StoreError) {
        guard let room, room < Self.leastRoom else { return }
        throw StoreError(
            .full, "less than \(Self.leastRoom >> 10) KiB are free on the vault's file system; a renewal may need them",
            hint: "free some space on its file system; nothing was lost and reading goes on")
    }

    func checkRoom(_ byteCount: Int64, for purpose: String) throws(StoreError) {
        guard let room, room < UInt64(clamping: byteCount) else { return }
        throw StoreError(
            .full, "there is no room for \(purpose): \(byteCount >> 10) KiB are needed, and \(room >> 10) KiB are free",
            hint: "free some space in \(directory); nothing was changed")
    }

    /// `nil` if the file system does not report its free space; then it does not count as full.
    private var room: UInt64? { Volume(of: directory)?.freeByteCount }

    /// Refuses a path where no vault may be made: a file exists, or SQLite's log of another vault, which would be
    /// applied to the new one.
    func checkFree() throws(StoreError) {
        try checkDirectory()
        try proveFileSystem()
        if exists { throw PrivateFile.creationError(.exists, path) }
        for suffix in ["-wal", "-journal"] {
            guard let log = try? FileStatus(at: path + suffix), log.size > 0 else { continue }
            throw StoreError(
                .vaultExists,
                "a vault was here, and its log is left, which may hold its newest tokens: \(path)\(suffix)",
                hint: VaultRemains(of: path)?.hints.joined(separator: "; "))
        }
    }

    /// Creates a complete and durable file that only its owner may use.
    func create(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        do throws(SystemError) {
            try unsafe NewFile(path).write(bytes)
        } catch {
            throw PrivateFile.creationError(error, path)
        }
    }

    /// Creates an empty file for SQLite to write. The companion files that SQLite creates get the same mode.
    func createEmpty() throws(StoreError) {
        do throws(SystemError) {
            let file = try Descriptor(path, for: .readingAndWriting, [.createNew, .notThroughLink])
            try? file.setPermissions(0o600)
        } catch {
            throw PrivateFile.creationError(error, path)
        }
    }

    var parent: String { directory }
}
