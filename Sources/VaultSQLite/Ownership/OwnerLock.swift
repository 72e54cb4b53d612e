import Platform
import Synchronization
import VaultCrypto
package import VaultStorage

/// Liveness of processes: each holds an exclusive lock on one byte of `<vault>.lock` for as long as it lives, and the
/// byte's offset is its name. The kernel frees the byte at the moment in which the process ends, however it ends; one
/// that is only stopped keeps it, and is never taken for dead.
///
/// The upper bits of a name say in which lock file the byte is. A free byte says nothing about a process that has
/// locked it in another file, because this one was removed or replaced: that process counts as alive.
package final class OwnerLock: Ownership {
    /// From 1 to 2⁶² − 1: the lock file's number, and a random one.
    package let owner: Int64
    private let path: String
    private let process: ProcessID
    private let files: Mutex<Files?>
    /// The lock file's number.
    private let fileNumber: Int64
    /// Owners in other lock files, of whom it is known that they have gone.
    private let departed = Mutex<Set<Int64>>([])

    private static let randomBits = 38
    private static let idOffset: Int64 = 8
    /// Locked while the file gets its id. No owner's number reaches it.
    private static let idLock: Int64 = 1 << 62
    /// Locked together by all that hold a snapshot for long, such as a backup's; see ``LockFile/announceLongSnapshot()``.
    static let snapshotLock: Int64 = idLock + 1

    private struct Files {
        let held: GuardedDescriptor
        /// A second open file description, which sees the first one's lock as a stranger's.
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

    /// Of a process that can only read: it owns nothing, and learns of others from the lock file, if it can be opened.
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

    /// 24 bits of what tells this file from all others: its id, and its inode, because a copy has the same id. The
    /// inode is no other file's for as long as a process holds a byte of it.
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
            .busy, "another process has begun to make the lock file \(vault.lockPath), and does not go on",
            hint: "look for a stopped process that uses the vault, and end it")
    }

    private static func readID(_ file: GuardedDescriptor) -> Bytes16? {
        guard let bytes = try? file.read(atMost: Bytes16.byteCount, at: idOffset), let id = Bytes16(bytes), id != .zero
        else { return nil }
        return id
    }

    private static func writeID(_ file: GuardedDescriptor, _ vault: VaultFile) throws(StoreError) -> Bytes16 {
        let id = SecureRandom.bytes16()
        // With another file of this name the mark of ``isWALDoubtful`` may have gone.
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

    /// Whether the process of that name lives.
    ///
    /// An error of the system counts as alive, and so does every process while the lock file is not the one that all
    /// know, and one that has a byte of another file: the intent of another process must never be freed.
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

    /// Remembers that these have gone, whatever became of their lock file.
    func noteDeparted(_ owners: some Sequence<Int64>) { departed.withLock { $0.formUnion(owners) } }

    /// Whether others see this process's byte as locked: they look at the file of that name, through descriptors of
    /// their own.
    package var isHeld: Bool {
        if ForkGuard.isForked { return false }
        return files.withLock { files in
            guard let files, isUsable(files) else { return false }
            return files.probe.isLockedElsewhere(start: owner, length: 1) == true
        }
    }

    /// Whether the WAL may end with something that was never synced: a commit that failed, and whose
    /// outcome is not known yet.
    ///
    /// A byte of the lock file that all processes know, and never synced itself: it lasts as long as what the kernel
    /// believes to have written. After a loss of power the WAL is what the disk has, and needs no mark.
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

    /// Whether some process has said that it holds a snapshot for long.
    var hasLongSnapshot: Bool {
        files.withLock { files in
            guard let files, isOurProcess else { return false }
            return files.probe.isLockedElsewhere(start: Self.snapshotLock, length: 1) ?? false
        }
    }

    /// Whether the vault is open nowhere else: in no other process, and in no other store of this one. Not before the
    /// system says so for certain.
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

    /// Whether this is the process that opened the vault, and nobody closed the lock's descriptors: then he has closed
    /// SQLite's too, and their numbers may be anything by now.
    var isIntact: Bool {
        isOurProcess && files.withLock { $0?.areIntact ?? true }
    }

    /// Lets others take over from this process. It no longer holds a lock, and cannot tell whether others have died.
    func release() { files.withLock { $0 = nil } }
}
