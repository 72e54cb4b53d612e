import Platform

/// Writes a key file so that it is either complete and durable or absent.
struct KeyFileWriter {
    let path: String

    func write(_ line: SecretBytes) throws(VaultCryptoError) {
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw VaultCryptoError(.keyFileNotWritten, "the key file's path names no file")
        }
        let failure = unsafe line.withUnsafeBytes { bytes -> SystemError? in
            do throws(SystemError) {
                try unsafe NewFile(path).write(bytes)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { return }
        throw failure == .exists ? exists : notWritten(failure)
    }

    private var exists: VaultCryptoError {
        VaultCryptoError(
            .keyFileExists,
            NamedFile(path).exists
                ? "there is already a file at \(KeyFileReader.shown(path))"
                : "there is already a symbolic link at \(KeyFileReader.shown(path)), which leads nowhere",
            hint: "a key file is never overwritten; choose another path")
    }

    private func notWritten(_ error: SystemError) -> VaultCryptoError {
        let hint =
            switch error {
            case .notFound: PathName.adviceToMake(PathName.directory(of: path))
            case .notDirectory: "a part of the path is a file, not a directory: choose another path"
            case .noSpace, .overQuota: "free some space on its file system, or choose another path"
            case .readOnlyFileSystem: "choose a path on a file system that can be written"
            default: "check the owner and mode of its directory, or choose another path"
            }
        return VaultCryptoError(
            .keyFileNotWritten,
            "the key file \(KeyFileReader.shown(path)) cannot be written: \(error.text)", hint: hint)
    }
}
