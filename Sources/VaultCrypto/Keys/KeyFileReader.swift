import Glibc

/// Opens a file with a secret only if no other user could have planted it, or read it unless root allowed that
/// (``SecretFileRule``).
package struct KeyFileReader {
    package static let maximumByteCount = 4096

    private let path: String
    /// The name of the file in errors.
    private let title: String
    private let limit: Int

    package init(path: String, title: String = "key file", limit: Int = maximumByteCount) {
        self.path = path
        self.title = title
        self.limit = limit
    }

    package func read() throws(VaultCryptoError) -> SecretBytes {
        guard !path.utf8.contains(0) else {
            throw VaultCryptoError(.keyFileMissing, "the \(title)'s path holds a zero byte")
        }
        if let descriptor = Self.descriptor(namedBy: path) {
            return try SecretDescriptor(descriptor, title: title, limit: limit).read()
        }
        let file = try openFile()
        defer { _ = close(file.descriptor) }
        var status = file.status
        if status.st_nlink > 1 {
            // A process that was killed while it wrote the file may have left a second name for it.
            NewFile(file.path).removeLeftovers()
            guard unsafe fstat(file.descriptor, &status) == 0 else { throw unreadable(errno) }
        }
        try checkFile(status, file.descriptor)
        return try SecretDescriptor.contents(of: file.descriptor, title, limit)
    }

    /// The descriptor behind `<(…)` or `/dev/stdin`, opened by the process that started this one.
    static func descriptor(namedBy path: String) -> Int32? {
        if path == "/dev/stdin" { return STDIN_FILENO }
        for prefix in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(prefix) {
            return Int32(path.dropFirst(prefix.count))
        }
        return nil
    }

    /// Whether the path names a descriptor, which can be read only once.
    package static func isDescriptor(_ path: String) -> Bool { descriptor(namedBy: path) != nil }

    /// The file, and its resolved path where `path` has symbolic links, as in volumes that Kubernetes mounts.
    private func openFile() throws(VaultCryptoError) -> TrustedPath.Opened {
        var flaw = TrustedPath.Flaw.system(ENOENT)
        // Kubernetes replaces the directory behind its links: a path may be gone right after it was resolved.
        for _ in 0..<2 {
            // O_NONBLOCK: opening a FIFO must not wait for a writer.
            do throws(TrustedPath.Flaw) {
                return try TrustedPath.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            } catch { flaw = error }
            guard flaw == .system(ENOENT) else { break }
        }
        if case .system(let error) = flaw { throw openingError(error) }
        throw unsafeFile(flaw.reason ?? "", hint: flaw.hint)
    }

    private func checkFile(_ status: stat, _ descriptor: Int32) throws(VaultCryptoError) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw notRegular }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw unsafeFile("belongs to another user", hint: "run: chown \(geteuid()) \(shownPath)")
        }
        let mount = status.st_mode & 0o077 == 0 ? nil : MountView(descriptor: descriptor)
        guard SecretFileRule(mode: status.st_mode, owner: status.st_uid, mount: mount).allows(user: geteuid()) else {
            throw unsafeFile("is accessible to other users", hint: "run: chmod 600 \(shownPath)")
        }
        guard status.st_nlink == 1 else {
            throw unsafeFile(
                "has a second name (hard link)",
                hint: "remove the other name, which `find -samefile \(shownPath)` shows; or make a new copy of the key")
        }
        guard status.st_size <= limit else {
            throw VaultCryptoError(.keyFileMalformed, "the \(title) is longer than \(limit) bytes")
        }
    }

    private func openingError(_ error: Int32) -> VaultCryptoError {
        switch error {
        case ENOENT, ENOTDIR:
            VaultCryptoError(
                .keyFileMissing, "there is no \(title) at \(shownPath)",
                hint: "restore it from a copy; do not make a new key, which would not open the vault")
        case ELOOP: unsafeFile("is a symbolic link that leads nowhere", hint: "name the file itself")
        case ENXIO, EISDIR: notRegular
        default: unreadable(error)
        }
    }

    private var notRegular: VaultCryptoError {
        unsafeFile("is not a regular file", hint: "name a file; a pipe is read by its descriptor or by standard input")
    }

    private func unsafeFile(_ why: String, hint: String? = nil) -> VaultCryptoError {
        VaultCryptoError(.keyFileUnsafe, "the \(title) \(shownPath) \(why)", hint: hint)
    }

    private func unreadable(_ error: Int32) -> VaultCryptoError {
        VaultCryptoError(
            .keyFileUnreadable, "the \(title) \(shownPath) cannot be read: \(SystemError.text(error))",
            hint: "check its owner and mode: ls -l \(shownPath)")
    }

    private var shownPath: String { Self.shown(path) }

    /// See ``PathName/shown(_:)``.
    static func shown(_ path: String) -> String { PathName.shown(path) }
}
