import Glibc
import VaultCrypto
import VaultStorage

/// A file that gets its name once it is complete; until then it is `PATH.<26 characters>.partial`.
///
/// It stays locked while it is being written. A file whose lock is free was left behind by a process that was killed;
/// the next process removes it.
final class PartialFile: @unchecked Sendable {
    static let suffix = ".partial"

    let path: String
    private let target: VaultFile
    /// Keeps the lock. Close it only when SQLite does not have the file open: closing it drops SQLite's locks.
    private let descriptor: Int32
    private var hasName = false

    init(for target: VaultFile) throws(StoreError) {
        self.target = target
        path = "\(target.path).\(Base32.encode(SecureRandom.bytes16()))\(Self.suffix)"
        descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw PrivateFile.creationError(errno, target.path) }
        // The umask may have cleared permission bits of the owner.
        guard fchmod(descriptor, 0o600) == 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(.io(errno), "\(path) cannot be locked")
        }
    }

    deinit {
        if !hasName { Self.remove(path) }
        close(descriptor)
    }

    /// SQLite's companion files.
    private static let companions = ["-journal", "-wal", "-shm"]

    private static func remove(_ path: String) {
        for suffix in [""] + companions { _ = unsafe unlink(path + suffix) }
    }

    var byteCount: Int64 {
        var info = stat()
        return unsafe fstat(descriptor, &info) == 0 ? Int64(info.st_size) : 0
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe pwrite(
                descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done, off_t(offset) + off_t(done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let error = count < 0 ? errno : ENOSPC
                throw [ENOSPC, EDQUOT].contains(error)
                    ? .diskFull : StoreError(.io(error), "\(path) cannot be written: \(SystemError.text(error))")
            }
            done += count
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(StoreError) {
        let result: Result<Void, StoreError> = unsafe bytes.withUnsafeBytes { bytes in
            do throws(StoreError) { return .success(try unsafe write(bytes, at: offset)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    func read(_ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
        try unsafe ByteStream(descriptor, path).read(byteCount, body)
    }

    /// Makes the file durable under its final name. Never overwrites a file.
    func finish() throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw StoreError(.io(errno), "\(path) cannot be made durable") }
        do throws(NewFile.Failure) { try NewFile(target.path).name(path) } catch {
            throw PrivateFile.creationError(error.error, target.path)
        }
        hasName = true
        try PrivateFile.synchronizeDirectory(target.parent)
    }

    /// Removes the files that killed processes left in a directory.
    static func removeLeftovers(in directory: String, of prefix: String) {
        Leftovers(in: directory, of: prefix, suffix: suffix, companions: companions).remove()
    }
}

/// Reads a file from its beginning, piece by piece.
struct ByteStream {
    private static let pieceByteCount = 1 << 20

    private let descriptor: Int32
    private let path: String

    init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// - Throws: also when the work is cancelled; see ``BlockingWork/isCancelled``.
    func read(
        _ byteCount: Int64, from start: Int64 = 0, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceByteCount, alignment: 4096)
        defer { unsafe piece.deallocate() }
        var offset = start
        let end = start + byteCount
        while offset < end {
            if BlockingWork.isCancelled { throw StoreError(.closed, "the operation was cancelled before its end") }
            let wanted = Int(min(Int64(Self.pieceByteCount), end - offset))
            let count = unsafe pread(descriptor, piece.baseAddress, wanted, off_t(offset))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw count == 0
                    ? .damagedBackup("\(path) is shorter than it was")
                    : StoreError(.io(errno), "\(path) cannot be read: \(SystemError.text(errno))")
            }
            try unsafe body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += Int64(count)
        }
    }
}
