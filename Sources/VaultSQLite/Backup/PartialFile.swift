import Platform
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
    private let file: Descriptor
    private var hasName = false

    init(for target: VaultFile) throws(StoreError) {
        self.target = target
        path = "\(target.path).\(RandomName.make())\(Self.suffix)"
        do throws(SystemError) {
            file = try Descriptor(path, for: .readingAndWriting, [.createNew, .notThroughLink])
        } catch {
            throw PrivateFile.creationError(error, target.path)
        }
        do throws(SystemError) {
            // The umask may have cleared permission bits of the owner.
            try file.setPermissions(0o600)
            try file.lockWhole()
        } catch {
            throw StoreError(.io(error), "\(path) cannot be locked")
        }
    }

    deinit {
        if !hasName { Self.remove(path) }
    }

    /// SQLite's companion files.
    private static let companions = ["-journal", "-wal", "-shm"]

    private static func remove(_ path: String) {
        for suffix in [""] + companions { NamedFile(path + suffix).discard() }
    }

    var byteCount: Int64 {
        (try? file.status().size) ?? 0
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        do throws(SystemError) { try unsafe file.writeAll(bytes, at: offset) } catch {
            throw [.noSpace, .overQuota].contains(error)
                ? .diskFull : StoreError(.io(error), "\(path) cannot be written: \(error.text)")
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
        try unsafe ByteStream(file, path).read(byteCount, body)
    }

    /// Makes the file durable under its final name. Never overwrites a file.
    func finish() throws(StoreError) {
        do throws(SystemError) { try file.synchronize() } catch {
            throw StoreError(.io(error), "\(path) cannot be made durable")
        }
        do throws(SystemError) { try NewFile(target.path).name(path) } catch {
            throw PrivateFile.creationError(error, target.path)
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

    private let file: Descriptor
    private let path: String

    init(_ file: Descriptor, _ path: String) {
        self.file = file
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
            let count: Int
            do throws(SystemError) {
                count = try unsafe file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: piece[..<wanted]), at: offset)
            } catch {
                throw StoreError(.io(error), "\(path) cannot be read: \(error.text)")
            }
            guard count > 0 else { throw .damagedBackup("\(path) is shorter than it was") }
            try unsafe body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += Int64(count)
        }
    }
}
