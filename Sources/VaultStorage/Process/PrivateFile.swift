package import Glibc
import VaultCrypto

/// The requirements for every file of a vault: a regular file of this user with one name that no other user can access.
package enum PrivateFile {
    /// Checks the file that is open, not the one that its path leads to by now.
    ///
    /// - Parameter what: the subject of the error message.
    package static func check(
        descriptor: Int32, _ path: String, of what: String = "the vault"
    ) throws(StoreError) {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw StoreError(.io(errno), "\(path) cannot be read") }
        do throws(StoreError) { try check(info, path) } catch {
            guard error.reason.hasPrefix(refusal) else { throw error }
            throw StoreError(
                error.code, "\(what) is refused: \(error.reason.dropFirst(refusal.count))", hint: error.hint)
        }
    }

    /// The start of such an error for the vault's own files.
    private static let refusal = "the vault is refused: "

    package static func check(_ info: stat, _ path: String, _ name: String = "it") throws(StoreError) {
        guard info.st_mode & S_IFMT != S_IFLNK else {
            // Do not advise removing a system link.
            let isOfSystem = ["/dev/", "/proc/", "/sys/"].contains(where: path.hasPrefix)
            throw refused(
                "\(name) is a symbolic link",
                isOfSystem ? "name the file itself" : "name the file itself, or remove the link: \(path)")
        }
        guard info.st_mode & S_IFMT != S_IFDIR else {
            throw refused("\(name) is a directory", "name a file, not a directory: \(path)")
        }
        guard info.st_mode & S_IFMT == S_IFREG else {
            // Do not advise moving a device.
            throw refused("\(name) is not a regular file", "check the path: \(path)")
        }
        guard info.st_uid == geteuid() else {
            throw refused("\(name) belongs to another user", "run as its owner, or `chown` it: \(path)")
        }
        guard info.st_mode & 0o077 == 0 else {
            throw refused("others may read or write \(name)", "run `chmod 600 \(path)`")
        }
        // No link at all means that the file was replaced after it was opened, as a witness is. The open file is still
        // valid.
        guard info.st_nlink <= 1 else {
            throw refused(
                "\(name) has more than one name (hard link)",
                "remove the other name; this shows it: find / -xdev -samefile '\(path)'")
        }
    }

    package static func creationError(_ error: Int32, _ path: String) -> StoreError {
        switch error {
        case EEXIST:
            StoreError(
                .vaultExists, "there is already a file at \(path)", hint: "choose another path; nothing is overwritten")
        case ENOSPC, EDQUOT: .diskFull
        case EROFS:
            StoreError(
                .readOnly, "cannot create \(path): the file system is mounted read-only",
                hint: "mount it writable, or choose another path")
        case EACCES, EPERM:
            StoreError(
                .readOnly, "cannot create \(path): \(SystemError.text(error))",
                hint: "check the directory's owner and mode")
        default:
            StoreError.tooManyFiles(error)
                ?? StoreError(
                    .io(error), "cannot create \(path): \(SystemError.text(error))", hint: "choose another directory")
        }
    }

    package static func refused(_ reason: String, _ hint: String) -> StoreError {
        StoreError(.unsafeFile, refusal + reason, hint: hint)
    }

    /// Refuses a path that others can redirect; see ``TrustedPath``. The file itself need not exist.
    package static func checkWay(to path: String, of what: String) throws(StoreError) {
        do throws(TrustedPath.Flaw) { try TrustedPath.checkDirectory(of: path) } catch {
            // A path that cannot be checked is reported when the file is opened.
            guard let reason = error.reason else { return }
            throw StoreError(
                .unsafeFile, "\(what) is refused: \(PathName.shown(path)) \(reason)",
                hint: error.hint ?? "use a directory of your own")
        }
    }

    /// Makes a file and its name durable. Use it only for files that SQLite does not have open.
    package static func synchronize(_ path: String, directory: String) throws(StoreError) {
        try synchronize(path, O_RDONLY)
        try synchronizeDirectory(directory)
    }

    /// Makes the names in a directory durable.
    package static func synchronizeDirectory(_ path: String) throws(StoreError) {
        try synchronize(path, O_RDONLY | O_DIRECTORY)
    }

    private static func synchronize(_ path: String, _ flags: Int32) throws(StoreError) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError(.io(errno), "\(path) cannot be read back") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreError(.io(errno), "\(path) cannot be made durable") }
    }
}

extension StoreError {
    /// A limit of this process or machine, unrelated to the vault; nil for any other error.
    package static func tooManyFiles(_ systemError: Int32) -> StoreError? {
        switch systemError {
        case EMFILE:
            StoreError(
                .io(systemError), "this process has too many files open",
                hint: "raise its limit: ulimit -n, or LimitNOFILE= in the service's unit")
        case ENFILE:
            StoreError(
                .io(systemError), "this machine has too many files open", hint: "raise its limit: sysctl fs.file-max")
        default: nil
        }
    }
}
