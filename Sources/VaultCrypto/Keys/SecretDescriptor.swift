import Platform

/// Reads a secret from a descriptor that the parent process opened.
package struct SecretDescriptor {
    private let descriptor: BorrowedDescriptor
    private let title: String
    private let limit: Int

    package init(_ descriptor: Int32, title: String, limit: Int = KeyFileReader.maximumByteCount) {
        self.descriptor = BorrowedDescriptor(descriptor)
        self.title = title
        self.limit = limit
    }

    /// Reads to the end. The descriptor is then closed, unless it is one of the three standard streams.
    package func read() throws(VaultCryptoError) -> SecretBytes {
        guard descriptor.isOpen else {
            throw VaultCryptoError(.keySourceFailed, "file descriptor \(descriptor.number) is not open")
        }
        guard !descriptor.isTerminal else {
            throw VaultCryptoError(
                .keySourceFailed, "file descriptor \(descriptor.number) is a terminal, which is no place for a key",
                hint: "redirect it from a file or a program")
        }
        defer { if !descriptor.isStandardStream { descriptor.close() } }
        return try Self.contents(of: descriptor, title, limit)
    }

    static func contents(
        of descriptor: some OpenDescriptor, _ title: String, _ limit: Int
    ) throws(VaultCryptoError) -> SecretBytes {
        // One byte more than allowed, to detect a secret that is too long.
        let room = limit + 1
        var count = 0
        let buffer = try unsafe SecretBytes(count: room) { target throws(VaultCryptoError) in
            while count < room {
                let got: Int
                do throws(SystemError) {
                    got = try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: target[count...]))
                } catch {
                    throw VaultCryptoError(.keyFileUnreadable, "the \(title) cannot be read: \(error.text)")
                }
                if got == 0 { break }
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
