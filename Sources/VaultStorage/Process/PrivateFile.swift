package import Platform

/// The requirements for every file of a vault: a regular file of this user with one name that no other user can access.
package enum PrivateFile {
    /// Checks the file that is open, not the one that its path leads to by now.
    ///
    /// - Parameter what: the subject of the error message.
    package static func check(
        _ file: some OpenDescriptor, _ path: String, of what: String = "the vault"
    ) throws(StoreError) {
        let status: FileStatus
        do throws(SystemError) { status = try file.status() } catch {
            throw StoreError(.io(error), "\(path) cannot be read")
        }
        do throws(StoreError) { try check(status, path) } catch {
            guard error.message.hasPrefix(refusal) else { throw error }
            throw StoreError(
                error.code, "\(what) is refused: \(error.message.dropFirst(refusal.count))", hint: error.hint)
        }
    }

    /// The start of such an error for the vault's own files.
    private static let refusal = "the vault is refused: "

    /// The file that the caller named.
    private static let itself = "it"

    /// - Parameter name: What it is, if it belongs to another file.
    package static func check(_ status: FileStatus, _ path: String, _ name: String = itself) throws(StoreError) {
        guard status.kind != .symbolicLink else {
            // Do not advise removing a system link.
            let isOfSystem = ["/dev/", "/proc/", "/sys/"].contains(where: path.hasPrefix)
            let target = name == Self.itself ? NamedFile(path).resolved : nil
            throw refused(
                "\(name) is a symbolic link",
                isOfSystem
                    ? "name the file itself"
                    : target.map { "name the file itself: \(PathName.shown($0))" }
                        ?? "name the file itself, or remove the link: \(path)")
        }
        guard status.kind != .directory else {
            throw refused(
                "\(name) is a directory",
                name == Self.itself
                    ? "name a file in it: \(path)\(path.hasSuffix("/") ? "" : "/")NAME"
                    : "this program made no directory of this name: move it away: \(path)")
        }
        guard status.kind == .regular else {
            // Do not advise moving a device.
            throw refused("\(name) is not a regular file", "check the path: \(path)")
        }
        guard status.isOurs else {
            throw refused("\(name) belongs to another user", "run as its owner, or `chown` it: \(path)")
        }
        // Root may read it nevertheless, and SQLite would make a log that all may read.
        guard status.permissions & 0o400 != 0 else {
            throw refused("not even its owner may read \(name)", "run `chmod 600 \(path)`")
        }
        guard status.permissions & 0o077 == 0 else {
            throw refused("others may read or write \(name)", "run `chmod 600 \(path)`")
        }
        // No link at all means that the file was replaced after it was opened, as a witness is. The open file is still
        // valid.
        guard status.linkCount <= 1 else {
            throw refused(
                "\(name) has more than one name (hard link)",
                "remove the other name; this shows it: find / -xdev -samefile '\(path)'")
        }
    }

    /// For files of this machine that belong to a vault, and are not beside it.
    package static let adviceForStateDirectory =
        "name one by its whole path: set TOKENVAULT_STATE_DIRECTORY for vaultctl, or VaultOptions.stateDirectory in a "
        + "service; otherwise STATE_DIRECTORY, XDG_STATE_HOME or HOME"

    package static func creationError(_ error: SystemError, _ path: String) -> StoreError {
        switch error {
        case .exists:
            StoreError(
                .vaultExists, "there is already a file at \(path)", hint: "choose another path; nothing is overwritten")
        case .noSpace, .overQuota: .diskFull
        case .readOnlyFileSystem:
            StoreError(
                .readOnly, "cannot create \(path): the file system is mounted read-only",
                hint: "mount it writable, or choose another path")
        case .nameTooLong:
            StoreError(.io(error), "cannot create \(path): \(error.text)", hint: "choose a shorter name")
        case .accessDenied, .notPermitted:
            StoreError(
                .readOnly, "cannot create \(path): \(error.text)",
                hint: "check the directory's owner and mode")
        default:
            StoreError.tooManyFiles(error)
                ?? StoreError(
                    .io(error), "cannot create \(path): \(error.text)", hint: "choose another directory")
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
        try synchronize(path, [])
        try synchronizeDirectory(directory)
    }

    /// Makes the names in a directory durable.
    package static func synchronizeDirectory(_ path: String) throws(StoreError) {
        try synchronize(path, .directory)
    }

    private static func synchronize(_ path: String, _ options: OpeningOptions) throws(StoreError) {
        let file: Descriptor
        do throws(SystemError) { file = try Descriptor(path, for: .reading, options) } catch {
            throw StoreError(.io(error), "\(path) cannot be read back")
        }
        do throws(SystemError) { try file.synchronize() } catch {
            throw StoreError(.io(error), "\(path) cannot be made durable")
        }
    }
}

extension StoreError {
    /// A limit of this process or machine, unrelated to the vault; nil for any other error.
    package static func tooManyFiles(_ error: SystemError) -> StoreError? {
        switch error {
        case .tooManyOpenFiles:
            StoreError(
                .io(error), "this process has too many files open",
                hint: "raise its limit: ulimit -n, or LimitNOFILE= in the service's unit")
        case .tooManyOpenFilesOnMachine:
            StoreError(
                .io(error), "this machine has too many files open", hint: "raise its limit: sysctl fs.file-max")
        default: nil
        }
    }
}
