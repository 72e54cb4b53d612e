import Glibc
import VaultCrypto

/// The file in which a witness keeps its newest note. It belongs on another file system than the vault.
package struct WitnessFile: Witness {
    package let path: String
    private static let mostBytes = 4_096

    package init(_ path: String) { self.path = path }

    package var interval: Duration { .seconds(1) }
    package var answersAtOnce: Bool { true }
    package var name: String { "the file \(PathName.shown(path))" }

    package func text(_ context: VaultContext) throws(StoreError) -> String? {
        try PrivateFile.checkWay(to: path, of: "the witness")
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", errno)
        }
        defer { close(descriptor) }
        try PrivateFile.check(descriptor: descriptor, path, of: "the witness")
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure("read", errno) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    package func advance(to note: WitnessNote, _ context: VaultContext, isForced: Bool) throws(StoreError) {
        try PrivateFile.checkWay(to: path, of: "the witness")
        // Checked before a file is created next to one that may be anything.
        try requireReplaceable()
        let lock = try takeLock()
        defer { close(lock) }
        try requireReplaceable()
        if !isForced {
            // A missing note is not replaced: at any moment another file may appear under this path.
            guard let seen = try read(context) else { throw StoreError.hasNoNote(self) }
            guard note.isNewer(than: seen) else { return }
        }
        let temporary = path + ".tmp"
        try write(Array(note.text(context).utf8), to: temporary)
        guard unsafe rename(temporary, path) == 0 else { throw failure("replaced", errno) }
        try PrivateFile.synchronizeDirectory(directory)
    }

    package func begin(with note: WitnessNote, _ context: VaultContext) throws(StoreError) {
        try advance(to: note, context, isForced: true)
    }

    package var directory: String { PathName.directory(of: path) }

    /// Refuses to replace a file that is not a witness's note, such as a vault or a key.
    package func requireReplaceable() throws(StoreError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw failure("read", errno)
        }
        defer { close(descriptor) }
        // A device reads as empty, but must not be replaced by a file.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("read", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(
                .invalidValue, "\(PathName.shown(path)) is not a regular file, and was not replaced",
                hint: "check --witness: it names a file of its own; nothing was changed")
        }
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure("read", errno) }
        guard count == 0 || WitnessNote.isNote(bytes.prefix(count)) else {
            throw StoreError(
                .invalidValue, "\(PathName.shown(path)) is not a witness's note, and was not replaced",
                hint: "check --witness: it names a file of its own; nothing was changed")
        }
    }

    package func requireRoom(_ context: VaultContext) throws(StoreError) {
        try PrivateFile.checkWay(to: path, of: "the witness")
        let lock = try takeLock()
        defer { close(lock) }
        let temporary = path + ".tmp"
        try write([UInt8](repeating: 0, count: Self.mostBytes), to: temporary)
        _ = unsafe unlink(temporary)
    }

    /// One process at a time holds the lock, until it closes the descriptor.
    private func takeLock() throws(StoreError) -> Int32 {
        let descriptor = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("locked", errno) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let error = errno
                close(descriptor)
                throw failure("locked", error)
            }
        }
        return descriptor
    }

    /// Runs under the lock, and overwrites the remains of a killed process.
    private func write(_ bytes: [UInt8], to temporary: String) throws(StoreError) {
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("written", errno) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                throw failure("written", errno)
            }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw failure("written", errno) }
    }

    private func failure(_ what: String, _ error: Int32) -> StoreError {
        let shown = PathName.shown(path)
        let (reason, hint) =
            switch error {
            case ELOOP: ("the witness \(shown) is a symbolic link", "name the file itself")
            case ENXIO: ("the witness \(shown) is not a regular file", "name a file of its own: --witness PATH")
            case ENOENT: ("there is no directory for the witness \(shown)", "make its directory, or mount its disk")
            default:
                (
                    "the witness file \(shown) cannot be \(what): \(SystemError.text(error))",
                    "check its directory, owner and mode; the vault itself is unharmed"
                )
            }
        return StoreError(.io(error), reason, hint: hint)
    }
}
