import Platform

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
        let opened = try openFile()
        var status = opened.status
        if status.linkCount > 1 {
            // A process that was killed while it wrote the file may have left a second name for it.
            NewFile(opened.path).removeLeftovers()
            do throws(SystemError) { status = try opened.file.status() } catch { throw unreadable(error) }
        }
        try checkFile(status, opened.file)
        return try SecretDescriptor.contents(of: opened.file, title, limit)
    }

    /// The descriptor behind `<(…)` or `/dev/stdin`, opened by the process that started this one.
    static func descriptor(namedBy path: String) -> Int32? {
        if path == "/dev/stdin" { return BorrowedDescriptor.standardInput.number }
        for prefix in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(prefix) {
            return Int32(path.dropFirst(prefix.count))
        }
        return nil
    }

    /// Whether the path names a descriptor, which can be read only once.
    package static func isDescriptor(_ path: String) -> Bool { descriptor(namedBy: path) != nil }

    /// The file, and its resolved path where `path` has symbolic links, as in volumes that Kubernetes mounts.
    private func openFile() throws(VaultCryptoError) -> TrustedPath.Opened {
        var flaw = TrustedPath.Flaw.system(.notFound)
        // Kubernetes replaces the directory behind its links: a path may be gone right after it was resolved.
        for _ in 0..<2 {
            // Opening a FIFO must not wait for a writer.
            do throws(TrustedPath.Flaw) {
                return try TrustedPath.open(path, for: .reading, [.withoutWaiting, .notOurTerminal])
            } catch { flaw = error }
            guard flaw == .system(.notFound) else { break }
        }
        if case .system(let error) = flaw { throw openingError(error) }
        throw unsafeFile(flaw.reason ?? "", hint: flaw.hint)
    }

    private func checkFile(_ status: FileStatus, _ file: Descriptor) throws(VaultCryptoError) {
        guard status.kind == .regular else { throw notRegular }
        guard status.isOursOrRoots else {
            throw unsafeFile("belongs to another user", hint: "run: chown \(UserID.current) \(shownPath)")
        }
        let mount = status.permissions & 0o077 == 0 ? nil : MountView(of: file)
        let rule = SecretFileRule(mode: status.permissions, owner: status.owner.number, mount: mount)
        guard rule.allows(user: UserID.current.number) else {
            throw unsafeFile("is accessible to other users", hint: "run: chmod 600 \(shownPath)")
        }
        guard status.linkCount == 1 else {
            throw unsafeFile(
                "has a second name (hard link)",
                hint: "remove the other name, which `find -samefile \(shownPath)` shows; or make a new copy of the key")
        }
        guard status.size <= limit else {
            throw VaultCryptoError(.keyFileMalformed, "the \(title) is longer than \(limit) bytes")
        }
    }

    private func openingError(_ error: SystemError) -> VaultCryptoError {
        switch error {
        case .notFound, .notDirectory:
            VaultCryptoError(
                .keyFileMissing, "there is no \(title) at \(shownPath)",
                hint: "restore it from a copy; do not make a new key, which would not open the vault")
        case .tooManyLinks: unsafeFile("is a symbolic link that leads nowhere", hint: "name the file itself")
        case .noDevice, .isDirectory: notRegular
        default: unreadable(error)
        }
    }

    private var notRegular: VaultCryptoError {
        unsafeFile("is not a regular file", hint: "name a file; a pipe is read by its descriptor or by standard input")
    }

    private func unsafeFile(_ why: String, hint: String? = nil) -> VaultCryptoError {
        VaultCryptoError(.keyFileUnsafe, "the \(title) \(shownPath) \(why)", hint: hint)
    }

    private func unreadable(_ error: SystemError) -> VaultCryptoError {
        VaultCryptoError(
            .keyFileUnreadable, "the \(title) \(shownPath) cannot be read: \(error.text)",
            hint: "check its owner and mode: ls -l \(shownPath)")
    }

    private var shownPath: String { Self.shown(path) }

    /// See ``PathName/shown(_:)``.
    static func shown(_ path: String) -> String { PathName.shown(path) }
}
