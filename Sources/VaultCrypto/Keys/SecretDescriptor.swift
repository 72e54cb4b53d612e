import Glibc

/// Reads a secret from a descriptor that the parent process opened.
package struct SecretDescriptor {
    private let descriptor: Int32
    private let title: String
    private let limit: Int

    package init(_ descriptor: Int32, title: String, limit: Int = KeyFileReader.maximumByteCount) {
        self.descriptor = descriptor
        self.title = title
        self.limit = limit
    }

    /// Reads to the end. The descriptor is then closed, unless it is one of the three standard streams.
    package func read() throws(VaultCryptoError) -> SecretBytes {
        guard descriptor >= 0, fcntl(descriptor, F_GETFD) >= 0 else {
            throw VaultCryptoError(.keySourceFailed, "file descriptor \(descriptor) is not open")
        }
        guard isatty(descriptor) == 0 else {
            throw VaultCryptoError(
                .keySourceFailed, "file descriptor \(descriptor) is a terminal, which is no place for a key",
                hint: "redirect it from a file or a program")
        }
        defer { if descriptor > STDERR_FILENO { _ = close(descriptor) } }
        return try Self.contents(of: descriptor, title, limit)
    }

    static func contents(
        of descriptor: Int32, _ title: String, _ limit: Int
    ) throws(VaultCryptoError) -> SecretBytes {
        // One byte more than allowed, to detect a secret that is too long.
        let room = limit + 1
        var count = 0
        let buffer = try unsafe SecretBytes(count: room) { target throws(VaultCryptoError) in
            while count < room {
                let got = unsafe Glibc.read(descriptor, target.baseAddress.map { unsafe $0 + count }, room - count)
                if got == 0 { break }
                if got < 0 {
                    if errno == EINTR { continue }
                    throw VaultCryptoError(
                        .keyFileUnreadable, "the \(title) cannot be read: \(SystemError.text(errno))")
                }
                count += got
            }
        }
        guard count <= limit else {
            throw VaultCryptoError(.keyFileMalformed, "the \(title) is longer than \(limit) bytes")
        }
        return unsafe buffer.withUnsafeBytes {
            unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
    }
}
