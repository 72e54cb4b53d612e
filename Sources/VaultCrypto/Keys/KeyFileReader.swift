import Glibc

/// Opens a key file only if no other user could have read or planted it.
struct KeyFileReader {
    static let maximumByteCount = 4096
    let path: String

    func read() throws(VaultCryptoError) -> SecretBytes {
        guard !path.utf8.contains(0) else {
            throw VaultCryptoError(.keyFileMissing, "the key file's path holds a zero byte")
        }
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw openingError(errno) }
        defer { _ = close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
        if status.st_nlink > 1 {
            // A process that was killed while it wrote the file may have left it a second name.
            NewFile(path).removeLeftovers()
            guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
        }
        try checkFile(status)
        try checkDirectory()
        return try contents(of: descriptor)
    }

    private func checkFile(_ status: stat) throws(VaultCryptoError) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw unsafeFile("is not a regular file") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw unsafeFile("belongs to another user", hint: "run: chown \(geteuid()) \(shownPath)")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw unsafeFile("is accessible to other users", hint: "run: chmod 600 \(shownPath)")
        }
        guard status.st_nlink == 1 else {
            throw unsafeFile(
                "has a second name (hard link)",
                hint: "remove the other name, which `find -samefile \(shownPath)` shows; or copy the key anew")
        }
        guard status.st_size <= Self.maximumByteCount else {
            throw VaultCryptoError(.keyFileMalformed, "the key file is longer than any key file")
        }
    }

    private func checkDirectory() throws(VaultCryptoError) {
        let parent = KeyFileReader.parent(of: path)
        var status = stat()
        guard unsafe stat(parent, &status) == 0 else { throw unreadable(errno) }
        let isShared = status.st_mode & S_IWOTH != 0
        guard !isShared || status.st_mode & S_ISVTX != 0 else {
            throw unsafeFile(
                "lies in a directory that other users can write to",
                hint: "run: chmod o-w \(KeyFileReader.shown(parent))")
        }
    }

    private func contents(of descriptor: Int32) throws(VaultCryptoError) -> SecretBytes {
        // One byte more than may be there, so that a file which grows meanwhile is seen.
        let limit = Self.maximumByteCount + 1
        var count = 0
        let buffer = try unsafe SecretBytes(count: limit) { target throws(VaultCryptoError) in
            while count < limit {
                let got = unsafe Glibc.read(descriptor, target.baseAddress.map { unsafe $0 + count }, limit - count)
                if got == 0 { break }
                if got < 0 {
                    if errno == EINTR { continue }
                    throw unreadable(errno)
                }
                count += got
            }
        }
        guard count < limit else {
            throw VaultCryptoError(.keyFileMalformed, "the key file is longer than any key file")
        }
        return unsafe buffer.withUnsafeBytes {
            unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
    }

    private func openingError(_ error: Int32) -> VaultCryptoError {
        switch error {
        case ENOENT, ENOTDIR:
            VaultCryptoError(
                .keyFileMissing, "there is no key file at \(shownPath)",
                hint: "restore it from a copy; do not make a new key, which would not open the vault")
        case ELOOP: unsafeFile("is a symbolic link", hint: "name the file itself")
        case ENXIO: unsafeFile("is not a regular file")
        default: unreadable(error)
        }
    }

    private func unsafeFile(_ why: String, hint: String? = nil) -> VaultCryptoError {
        VaultCryptoError(.keyFileUnsafe, "the key file \(shownPath) \(why)", hint: hint)
    }

    private func unreadable(_ error: Int32) -> VaultCryptoError {
        VaultCryptoError(
            .keyFileUnreadable, "the key file \(shownPath) cannot be read: \(SystemError.text(error))")
    }

    private var shownPath: String { Self.shown(path) }

    /// A path with nothing in it that a terminal would obey.
    static func shown(_ path: String) -> String {
        String(
            String.UnicodeScalarView(path.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
