import CSodium
import Glibc

/// A new file that is either complete and durable or absent, wherever the process is killed. Nothing is overwritten.
///
/// While it is written it has no name (`O_TMPFILE`), so that nothing of it can be left behind. File systems that cannot
/// do that get a temporary file, `PATH.<26 characters>.tmp`, which is renamed at the end. If a process is killed
/// meanwhile, the next one that writes a file of the same path removes the temporary file.
package struct NewFile {
    package struct Failure: Error, Equatable {
        /// The system's error number.
        package let error: Int32
    }

    /// How a complete file gets its name. Each method is for file systems that do not support the one before it.
    package enum Naming: CaseIterable, Sendable {
        /// The file had no name before.
        case first
        /// Renamed, unless the name is taken.
        case exclusiveRename
        /// Gets a second name and loses the first.
        case secondName
        /// Replaces an empty file that was made to reserve the name. A kill in between may leave the empty file.
        case reservation
    }

    private let path: String
    private let namings: [Naming]

    /// - Parameter namings: All of them, except in tests.
    package init(_ path: String, namings: [Naming] = Naming.allCases) {
        self.path = path
        self.namings = namings
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        removeLeftovers()
        var existing = stat()
        if unsafe lstat(path, &existing) == 0 { throw Failure(error: EEXIST) }
        var isNamed = false
        if namings.contains(.first) { isNamed = unsafe try writeWithoutName(bytes) }
        if !isNamed { unsafe try writeUnderOtherName(bytes) }
        try synchronizeDirectory()
    }

    // MARK: Without a name

    /// Returns false if the file system, or a missing `/proc`, does not allow it.
    private func writeWithoutName(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Bool {
        guard let descriptor = try openWithoutName() else { return false }
        defer { _ = close(descriptor) }
        try unsafe fill(descriptor, bytes)
        guard giveName(to: descriptor) != 0 else { return true }
        guard [ENOENT, EXDEV, EPERM, EOPNOTSUPP, EINVAL].contains(errno) else { throw Failure(error: errno) }
        return false
    }

    /// Returns nil if the file system does not allow it.
    func openWithoutName() throws(Failure) -> Int32? {
        let withoutName = 0o20000000 | O_DIRECTORY
        let descriptor = unsafe open(parent, withoutName | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { return descriptor }
        if [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) { return nil }
        throw Failure(error: errno)
    }

    private func giveName(to descriptor: Int32) -> Int32 {
        unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
    }

    /// Gives this name to a complete file that has none. Where the file system does not allow it, a copy of the file
    /// gets the name.
    func name(descriptor: Int32) throws(Failure) {
        guard giveName(to: descriptor) != 0 else { return }
        guard [ENOENT, EXDEV, EPERM, EOPNOTSUPP, EINVAL].contains(errno) else { throw Failure(error: errno) }
        let (copy, temporary) = try openUnderOtherName()
        defer { _ = close(copy) }
        do throws(Failure) {
            guard fchmod(copy, 0o600) == 0 else { throw Failure(error: errno) }
            try Self.copy(descriptor, to: copy)
            guard fsync(copy) == 0 else { throw Failure(error: errno) }
            try name(temporary)
        } catch {
            unsafe _ = unlink(temporary)
            throw error
        }
    }

    private static func copy(_ source: Int32, to target: Int32) throws(Failure) {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let size = piece.count
        var offset = off_t(0)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe pread(source, $0.baseAddress, size, offset) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(error: errno) }
            guard count > 0 else { return }
            let failure = unsafe piece.withUnsafeBytes { bytes -> Failure? in
                do throws(Failure) {
                    try unsafe write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: target)
                    return nil
                } catch {
                    return error
                }
            }
            if let failure { throw failure }
            offset += off_t(count)
        }
    }

    private func fill(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(Failure) {
        // The umask may have removed permissions of the owner.
        guard fchmod(descriptor, 0o600) == 0 else { throw Failure(error: errno) }
        try unsafe Self.write(bytes, to: descriptor)
        guard fsync(descriptor) == 0 else { throw Failure(error: errno) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(Failure) {
        var offset = 0
        while offset < bytes.count {
            let done = unsafe Glibc.write(
                descriptor, bytes.baseAddress.map { unsafe $0 + offset }, bytes.count - offset)
            if done < 0 && errno == EINTR { continue }
            guard done > 0 else { throw Failure(error: done < 0 ? errno : ENOSPC) }
            offset += done
        }
    }

    // MARK: Under another name

    private static let suffix = ".tmp"
    private static let idLength = 26

    private func writeUnderOtherName(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let (descriptor, temporary) = try openUnderOtherName()
        defer { _ = close(descriptor) }
        do throws(Failure) {
            try unsafe fill(descriptor, bytes)
            try name(temporary)
        } catch {
            unsafe _ = unlink(temporary)
            throw error
        }
    }

    func openUnderOtherName() throws(Failure) -> (descriptor: Int32, path: String) {
        let temporary = "\(path).\(Base32.encode(SecureRandom.bytes16()))\(Self.suffix)"
        let descriptor = unsafe open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(error: errno) }
        // Held while the file is written: a file with a free lock has been left behind.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            _ = close(descriptor)
            unsafe _ = unlink(temporary)
            throw Failure(error: error)
        }
        return (descriptor, temporary)
    }

    /// Gives this name to a complete temporary file, in whatever way the file system supports.
    package func name(_ temporary: String) throws(Failure) {
        var error = EINVAL
        for naming in namings where naming != .first {
            error = self.error(of: naming, temporary)
            if error == 0 { return }
            guard [EINVAL, ENOSYS, EPERM, EOPNOTSUPP].contains(error) else { break }
        }
        throw Failure(error: error)
    }

    private func error(of naming: Naming, _ temporary: String) -> Int32 {
        switch naming {
        case .first: return EINVAL
        case .exclusiveRename:
            let noReplace: UInt32 = 1
            return unsafe renameat2(AT_FDCWD, temporary, AT_FDCWD, path, noReplace) == 0 ? 0 : errno
        case .secondName:
            guard unsafe link(temporary, path) == 0 else { return errno }
            unsafe _ = unlink(temporary)
            return 0
        case .reservation:
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return errno }
            _ = close(descriptor)
            guard unsafe rename(temporary, path) != 0 else { return 0 }
            let error = errno
            unsafe _ = unlink(path)
            return error
        }
    }

    // MARK: Leftovers

    /// Removes the files of processes that were killed while they wrote a file of this path, and the second name of a
    /// file that got both.
    package func removeLeftovers() {
        Leftovers(in: parent, of: PathName.lastPart(of: path) + ".", suffix: Self.suffix).remove()
    }

    // MARK: Directory

    private var parent: String { PathName.directory(of: path) }

    func synchronizeDirectory() throws(Failure) {
        let directory = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Failure(error: errno) }
        defer { _ = close(directory) }
        guard fsync(directory) == 0 else { throw Failure(error: errno) }
    }
}
