import Glibc

/// A new file that only its owner can read. Never overwrites a file.
enum PrivateFile {
    /// Writes the whole content and waits until it is on disk. Removes the file if that fails.
    static func write(_ content: [UInt8], to path: String) throws(Failure) {
        let descriptor = try create(path)
        defer { close(descriptor) }
        do throws(Failure) {
            try write(content, to: descriptor, path)
            guard fsync(descriptor) == 0 else { throw failure(path, errno) }
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    /// Returns the descriptor, which the caller closes.
    static func create(_ path: String) throws(Failure) -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, errno) }
        return descriptor
    }

    static func write(_ content: [UInt8], to descriptor: Int32, _ path: String) throws(Failure) {
        var bytes = content[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                throw failure(path, errno)
            }
        }
    }

    private static func failure(_ path: String, _ error: Int32) -> Failure {
        let name = Printable.path(path)
        return switch error {
        case EEXIST: .usage("\(name) already exists", hint: "choose another file; nothing is overwritten")
        case EISDIR where path.hasSuffix("/"):
            Failure(.machine, code: "outputFailed", "\(name) names a directory", hints: ["name a new file in it"])
        case ENOSPC, EDQUOT:
            Failure(.machine, code: "outputFull", "\(name) could not be written: the disk is full")
        case ENOENT where unsafe access(InputFile.directory(of: path), F_OK) != 0:
            Failure(
                .machine, code: "outputFailed",
                "\(name) cannot be made: there is no directory \(Printable.path(InputFile.directory(of: path)))",
                hints: ["create it first: mkdir -m 700 \(Printable.path(InputFile.directory(of: path)))"])
        default: Failure(.machine, code: "outputFailed", "\(name) could not be written: \(InputFile.reason(of: error))")
        }
    }
}
