import Platform
import Synchronization
import VaultCrypto
package import VaultStorage

/// Liveness of processes. Each process holds an exclusive lock on one byte of `<vault>.lock` while it lives, and the
/// byte's offset is its name. The kernel frees the byte the moment the process ends, however it ends. A process that is
/// only stopped keeps its byte and never counts as dead.
///
/// The upper bits of a name identify the lock file that has the byte. A free byte says nothing about a process that
/// locked it in another file, because this file was removed or replaced: that process counts as alive.
package final class OwnerLock: Ownership {
    /// From 1 to 2⁶² − 1: the lock file's number, and a random one.
    package let owner: Int64
    private let path: String
    private let process: ProcessID
    private let files: Mutex<Files?>
    /// The lock file's number.
    private let fileNumber: Int64
    /// Owners in other lock files that are known to be gone.
    private let departed = Mutex<Set<Int64>>([])

    private static let randomBits = 38
    private static let idOffset: Int64 = 8
    /// Locked while the file gets its id. No owner's number is that high.
    private static let idLock: Int64 = 1 << 62
    /// A shared lock of all holders of a long snapshot, such as a backup's; see ``LockFile/announceLongSnapshot()``.
    static let snapshotLock: Int64 = idLock + 1

    private struct Files {
        let held: GuardedDescriptor
        /// A second open file description, to which the first one's lock is a foreign lock.
        let probe: GuardedDescriptor

        var areIntact: Bool { held.isIntact && probe.isIntact }
    }

    package convenience init(besideVaultAt path: String) throws(StoreError) {
        try self.init(VaultFile(path))
    }

    init(_ file: VaultFile) throws(StoreError) {
        let held = try Self.openFile(file.lockPath)
        let probe = try Self.openFile(file.lockPath)
        fileNumber = try Self.number(of: held, file)
        do throws(SystemError) { owner = try Self.takeByte(held, fileNumber) } catch {
            throw StoreError(
                .io(error), "the lock file \(file.lockPath) cannot be locked", hint: "put the vault on a local disk")
        }
        path = file.lockPath
        process = .current
        files = Mutex(Files(held: held, probe: probe))
    }

    /// For a process that can only read. It owns nothing, and learns of others from the lock file if it can open it.
    init(readOnly file: VaultFile) {
        owner = 0
        path = file.lockPath
        process = .current
        let probe = try? GuardedDescriptor(file.lockPath, for: .reading, .notThroughLink)
        let id = probe.flatMap { Self.readID($0) }
        fileNumber =
            probe.flatMap { probe in
                id.map { Self.number(ofFile: $0, inode: probe.identity.inode) }
            } ?? -1
        files = Mutex(probe.map { Files(held: $0, probe: $0) })
    }

    /// 24 bits that distinguish this file from all others: derived from its id, and from its inode because a copy has
    /// the same id. No other file can have the inode while a process holds a byte of it.
    private static func number(of file: GuardedDescriptor, _ vault: VaultFile) throws(StoreError) -> Int64 {
        number(ofFile: try id(of: file, vault), inode: file.identity.inode)
    }

    static func number(ofFile id: Bytes16, inode: UInt64) -> Int64 {
        let facts = unsafe withUnsafeBytes(of: inode.littleEndian) { bytes in unsafe id.array + bytes }
        let hash = unsafe facts.withUnsafeBytes { unsafe Checksum.of($0) }
        return Int64(UInt64(littleEndian: hash.firstWord) >> 40)
    }

    private static func id(of file: GuardedDescriptor, _ vault: VaultFile) throws(StoreError) -> Bytes16 {
        if let id = readID(file) { return id }
        for _ in 0..<500 {
            if file.setLock(start: idLock, length: 1) {
                defer { _ = file.setLock(.unlocked, start: idLock, length: 1) }
                if let id = readID(file) { return id }
                return try writeID(file, vault)
            }
            CurrentThread.pause(microseconds: 10_000)
            if let id = readID(file) { return id }
        }
        throw StoreError(
            .busy, "another process started to create the lock file \(vault.lockPath), and is stuck",
            hint: "look for a stopped process that uses the vault, and end it")
    }

    private static func readID(_ file: GuardedDescriptor) -> Bytes16? {
        guard let bytes = try? file.read(atMost: Bytes16.byteCount, at: idOffset), let id = Bytes16(bytes), id != .zero
        else { return nil }
        return id
    }

    private static func writeID(_ file: GuardedDescriptor, _ vault: VaultFile) throws(StoreError) -> Bytes16 {
        let id = SecureRandom.bytes16()
        // A replaced lock file may have lost the mark of ``isWALDoubtful``.
        if vault.hasWAL { file.mark(true) }
        do throws(SystemError) {
            guard try file.write(id.array, at: idOffset) == Bytes16.byteCount else { throw .noSpace }
        } catch {
            throw PrivateFile.creationError(error, vault.lockPath)
        }
        return id
    }

    private static func takeByte(_ file: GuardedDescriptor, _ fileNumber: Int64) throws(SystemError) -> Int64 {
        var failure = SystemError.wouldWait
        for _ in 0..<16 {
            let candidate = fileNumber << randomBits | Int64.random(in: 1..<(1 << randomBits))
            do throws(SystemError) {
                try file.lock(start: candidate, length: 1)
                return candidate
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func openFile(_ path: String) throws(StoreError) -> GuardedDescriptor {
        let file: GuardedDescriptor
        do throws(SystemError) { file = try openOrMakeFile(path) } catch {
            if error == .tooManyLinks {
                throw PrivateFile.refused("its lock file is a symbolic link", "remove \(path)")
            }
            throw PrivateFile.creationError(error, path)
        }
        try PrivateFile.check(file, path)
        return file
    }

    private static func openOrMakeFile(_ path: String) throws(SystemError) -> GuardedDescriptor {
        do throws(SystemError) {
            let file = try GuardedDescriptor(path, [.createNew, .notThroughLink])
            // The mode is ours to choose, whatever the umask.
            try? file.setPermissions(0o600)
            return file
        } catch {
            guard error == .exists else { throw error }
            return try GuardedDescriptor(path, .notThroughLink)
        }
    }

    /// Whether the process with that name lives.
    ///
    /// A system error counts as alive. So does every process while the lock file is not the one that all processes
    /// know, and a process that has a byte of another file: another process's intent must never be freed.
    package func isAlive(_ owner: Int64) -> Bool {
        guard owner > 0 else { return false }
        if ForkGuard.isForked { return true }
        return files.withLock { files in
            guard let files, isUsable(files) else { return true }
            if files.probe.isLockedElsewhere(start: owner, length: 1) ?? true { return true }
            return isForeign(owner) && !departed.withLock { $0.contains(owner) }
        }
    }

    /// Whether the owner's byte is in another lock file than this one.
    func isForeign(_ owner: Int64) -> Bool { owner > 0 && owner >> Self.randomBits != fileNumber }

    /// Remembers that these owners are gone, whatever happened to their lock file.
    func noteDeparted(_ owners: some Sequence<Int64>) { departed.withLock { $0.formUnion(owners) } }

    /// Whether others see this process's byte as locked. They check the file with that name, through their own
    /// descriptors.
    package var isHeld: Bool {
        if ForkGuard.isForked { return false }
        return files.withLock { files in
            guard let files, isUsable(files) else { return false }
            return files.probe.isLockedElsewhere(start: owner, length: 1) == true
        }
    }

    /// Whether the WAL may end with frames that were never synced, from a failed commit whose outcome is still unknown.
    ///
    /// The mark is a byte of the lock file that all processes know. It is never synced itself, so it lasts as long as
    /// the data that the kernel believes it has written. After a power failure the WAL is what is on disk, and needs no
    /// mark.
    var isWALDoubtful: Bool {
        get {
            files.withLock { files in
                files?.held.isMarkedDoubtful ?? false
            }
        }
        set {
            files.withLock { $0?.held.mark(newValue) }
        }
    }

    /// Whether any process has announced a long snapshot.
    var hasLongSnapshot: Bool {
        files.withLock { files in
            guard let files, isOurProcess else { return false }
            return files.probe.isLockedElsewhere(start: Self.snapshotLock, length: 1) ?? false
        }
    }

    /// Whether the vault is open nowhere else: in no other process, and in no other store of this one. False until the
    /// system confirms it.
    var isAlone: Bool {
        files.withLock { files in
            guard let files, isOurProcess else { return false }
            return files.held.isLockedElsewhere(start: 1, length: (1 << 62) - 1) == false
        }
    }

    private func isUsable(_ files: Files) -> Bool {
        isOurProcess && files.areIntact && FileIdentity(path: path) == files.held.identity
    }

    private var isOurProcess: Bool { !ForkGuard.isForked && ProcessID.current == process }

    /// Whether this is the process that opened the vault, and the lock's descriptors are still open. If other code
    /// closed them, it has closed SQLite's too, and their numbers may refer to any file by now.
    var isIntact: Bool {
        isOurProcess && files.withLock { $0?.areIntact ?? true }
    }

    /// Lets other processes take over. This process then holds no lock, and cannot detect whether others have died.
    func release() { files.withLock { $0 = nil } }
}
