import Glibc
import VaultCrypto

/// A directory in which each process has a file named after its owner number.
struct SpoolDirectory: Sendable {
    let path: String
    private let parent: String

    init(at path: String, in parent: String) {
        self.path = path
        self.parent = parent
    }

    private static let suffix = ".spool"

    private func name(of owner: Int64) -> String { "\(owner)\(Self.suffix)" }

    func filePath(of owner: Int64) -> String { "\(path)/\(name(of: owner))" }

    /// Opens this process's file, and creates it if it does not exist.
    func openOwn(_ owner: Int64) throws(StoreError) -> SpoolFile {
        let directory = try open(isMade: true)
        defer { close(directory) }
        let filePath = filePath(of: owner)
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_DSYNC
        let number = unsafe openat(directory, name(of: owner), flags | O_CREAT | O_EXCL, 0o600)
        if number < 0 && errno == EEXIST {
            guard let file = try openExisting(owner, in: directory) else {
                throw StoreError(.io(ENOENT), "\(filePath) keeps being created and removed")
            }
            return file
        }
        guard number >= 0 else { throw failure(errno, filePath) }
        fchmod(number, 0o600)
        do throws(StoreError) {
            let file = try SpoolFile(number, path: filePath, isNew: true)
            guard fsync(directory) == 0 else { throw StoreError(.io(errno), "\(path) cannot be made durable") }
            return file
        } catch {
            unsafe _ = unlinkat(directory, name(of: owner), 0)
            throw error
        }
    }

    /// Opens the file of any process; `nil` if it no longer exists.
    func openExisting(_ owner: Int64) throws(StoreError) -> SpoolFile? {
        guard Descriptor.Identity(path: path) != nil else { return nil }
        let directory = try open(isMade: false)
        defer { close(directory) }
        return try openExisting(owner, in: directory)
    }

    private func openExisting(_ owner: Int64, in directory: Int32) throws(StoreError) -> SpoolFile? {
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let number = unsafe openat(
            directory, name(of: owner), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_DSYNC)
        if number < 0 && errno == ENOENT { return nil }
        guard number >= 0 else { throw failure(errno, filePath(of: owner)) }
        return try SpoolFile(number, path: filePath(of: owner), isNew: false)
    }

    /// The current bytes of any process's file, perhaps in the middle of a change; `nil` if the file no longer exists.
    func peek(_ owner: Int64) throws(StoreError) -> [UInt8]? {
        guard Descriptor.Identity(path: path) != nil else { return nil }
        let directory = try open(isMade: false)
        defer { close(directory) }
        let number = unsafe openat(directory, name(of: owner), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if number < 0 && errno == ENOENT { return nil }
        guard number >= 0 else { throw failure(errno, filePath(of: owner)) }
        defer { close(number) }
        try PrivateFile.check(descriptor: number, filePath(of: owner))
        return try SpoolFile.read(number)
    }

    /// Removes an empty file. The caller has it open, and therefore locked.
    func remove(_ owner: Int64) throws(StoreError) {
        let directory = try open(isMade: false)
        defer { close(directory) }
        guard unsafe unlinkat(directory, name(of: owner), 0) == 0 || errno == ENOENT else {
            throw failure(errno, filePath(of: owner))
        }
        guard fsync(directory) == 0 else { throw StoreError(.io(errno), "\(path) cannot be made durable") }
    }

    /// The owners of the existing files. Other file names are ignored.
    func owners() throws(StoreError) -> [Int64] {
        guard Descriptor.Identity(path: path) != nil else { return [] }
        let directory = try open(isMade: false)
        guard let stream = unsafe fdopendir(directory) else {
            close(directory)
            throw failure(errno, path)
        }
        defer { unsafe _ = closedir(stream) }
        var owners: [Int64] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(Self.suffix), let owner = Int64(name.dropLast(Self.suffix.count)), owner > 0,
                name == self.name(of: owner)
            else { continue }
            owners.append(owner)
        }
        return owners.sorted()
    }

    /// Opens the directory itself, if no other user can access it.
    private func open(isMade: Bool) throws(StoreError) -> Int32 {
        if isMade, unsafe mkdir(path, 0o700) == 0 {
            unsafe chmod(path, 0o700)
            try PrivateFile.synchronizeDirectory(parent)
        } else if isMade, errno != EEXIST {
            throw failure(errno, path)
        }
        let directory = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard directory >= 0 else { throw failure(errno, path) }
        var info = stat()
        let isKnown = unsafe fstat(directory, &info) == 0
        guard isKnown, info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
            close(directory)
            throw PrivateFile.refused(
                "its spool directory belongs to another user or is accessible to others",
                "run `chown` or `chmod 700 \(path)`")
        }
        return directory
    }

    private func failure(_ error: Int32, _ path: String) -> StoreError {
        switch error {
        case ELOOP, ENOTDIR, ENXIO:
            PrivateFile.refused("a part of its spool is not what the vault made", "move it away: \(path)")
        default: PrivateFile.creationError(error, path)
        }
    }
}
