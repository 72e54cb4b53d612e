import CProcess
import Glibc

/// A name in the file system, and what can be done with it without opening the file.
package struct NamedFile: Sendable {
    package enum Right: Sendable {
        /// To be seen at all.
        case existence
        case reading, writing, executing
        /// In a directory: to make files and remove them.
        case changing

        fileprivate var mode: Int32 {
            switch self {
            case .existence: F_OK
            case .reading: R_OK
            case .writing: W_OK
            case .executing: X_OK
            case .changing: W_OK | X_OK
            }
        }
    }

    private let path: String

    package init(_ path: String) { self.path = path }

    /// Whether something is there. A symbolic link stands for what it leads to.
    package var exists: Bool { allows(.existence) }

    /// Whether this process may; so also if the file system is read-only, say. A symbolic link stands for what it leads to.
    package func allows(_ right: Right) -> Bool { unsafe access(path, right.mode) == 0 }

    /// Why this process may not; nil if it may.
    package func refusal(of right: Right) -> SystemError? {
        unsafe access(path, right.mode) == 0 ? nil : .last
    }

    /// Without symbolic links, and from the root on; nil if it is not there.
    package var resolved: String? {
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    package func remove() throws(SystemError) {
        guard unsafe unlink(path) == 0 else { throw .last }
    }

    /// Removes what is there, if that can be done.
    package func discard() { unsafe _ = unlink(path) }

    /// Takes the place of what has that name.
    package func rename(to other: String) throws(SystemError) {
        guard unsafe Glibc.rename(path, other) == 0 else { throw .last }
    }

    /// Refused if there is something of that name. Not every file system can do it.
    package func renameExclusively(to other: String) throws(SystemError) {
        let noReplace: UInt32 = 1
        guard unsafe renameat2(AT_FDCWD, path, AT_FDCWD, other, noReplace) == 0 else { throw .last }
    }

    /// Gives the file one name more.
    package func link(as other: String) throws(SystemError) {
        guard unsafe Glibc.link(path, other) == 0 else { throw .last }
    }

    /// Removes an empty directory, if that can be done.
    package func discardDirectory() { unsafe _ = rmdir(path) }

    /// - Parameter permissions: the umask takes some away.
    package func makeDirectory(permissions: UInt32 = 0o700) throws(SystemError) {
        guard unsafe mkdir(path, mode_t(permissions)) == 0 else { throw .last }
    }

    /// Makes a directory of an absolute path, and those that it is in, where they are missing.
    ///
    /// - Returns: the first that cannot be made, and why; nil if all are there.
    package func makeDirectories(permissions: UInt32 = 0o700) -> (path: String, error: SystemError)? {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/\(part)"
            guard unsafe mkdir(made, mode_t(permissions)) != 0, errno != EEXIST else { continue }
            return (made, .last)
        }
        return nil
    }

    /// - Parameter time: milliseconds since 1970.
    package func setModified(at time: Int64) throws(SystemError) {
        let instant = timespec(tv_sec: Int(time / 1000), tv_nsec: Int(time % 1000) * 1_000_000)
        guard unsafe utimensat(AT_FDCWD, path, [instant, instant], 0) == 0 else { throw .last }
    }

    package func setPermissions(_ permissions: UInt32) throws(SystemError) {
        guard unsafe chmod(path, mode_t(permissions)) == 0 else { throw .last }
    }
}
