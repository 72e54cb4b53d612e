import Glibc

/// Writes a key file so that it is either there whole and durable, or not there at all.
struct KeyFileWriter {
    let path: String

    func write(_ line: SecretBytes) throws(VaultCryptoError) {
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw VaultCryptoError(.keyFileNotWritten, "the key file's path names no file")
        }
        var existing = stat()
        if unsafe lstat(path, &existing) == 0 { throw exists }
        let temporary = "\(path).\(Base32.encode(SecureRandom.bytes16())).tmp"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw notWritten(errno) }
        do throws(VaultCryptoError) {
            defer { _ = close(descriptor) }
            // The umask may have taken bits away from the owner.
            guard fchmod(descriptor, 0o600) == 0 else { throw notWritten(errno) }
            try write(line, to: descriptor)
            guard fsync(descriptor) == 0 else { throw notWritten(errno) }
        } catch {
            unsafe _ = unlink(temporary)
            throw error
        }
        try publish(temporary)
        try syncDirectory()
    }

    private func write(_ line: SecretBytes, to descriptor: Int32) throws(VaultCryptoError) {
        var offset = 0
        while offset < line.count {
            let done = unsafe line.withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress.map { unsafe $0 + offset }, bytes.count - offset)
            }
            if done < 0 {
                if errno == EINTR { continue }
                throw notWritten(errno)
            }
            offset += done
        }
    }

    /// `link` and not `rename`, which would overwrite a file that appeared meanwhile.
    private func publish(_ temporary: String) throws(VaultCryptoError) {
        let status = unsafe link(temporary, path)
        let error = errno
        unsafe _ = unlink(temporary)
        guard status == 0 else {
            throw error == EEXIST ? exists : notWritten(error)
        }
    }

    private func syncDirectory() throws(VaultCryptoError) {
        let directory = unsafe open(KeyFileReader.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw notWritten(errno) }
        defer { _ = close(directory) }
        guard fsync(directory) == 0 else { throw notWritten(errno) }
    }

    private var exists: VaultCryptoError {
        VaultCryptoError(
            .keyFileExists, "there is already a file at \(KeyFileReader.shown(path))",
            hint: "a key file is never overwritten; choose another path")
    }

    private func notWritten(_ error: Int32) -> VaultCryptoError {
        VaultCryptoError(
            .keyFileNotWritten,
            "the key file \(KeyFileReader.shown(path)) cannot be written: \(SystemError.text(error))")
    }
}
