import Glibc
import Synchronization
import VaultCrypto

/// Liveness of processes: each holds an exclusive lock on one byte of `<vault>.lock` for as long as it lives, and the
/// byte's offset is its name. The kernel frees the byte at the moment in which the process ends, however it ends; one
/// that is only stopped keeps it, and is never taken for dead.
package final class OwnerLock: Sendable {
    /// From 1 to 2⁶² − 1, random.
    package let owner: Int64
    private let path: String
    private let process: pid_t
    private let files: Mutex<Files?>

    private struct Files {
        let held: Descriptor
        /// A second open file description, which sees the first one's lock as a stranger's.
        let probe: Descriptor

        var areIntact: Bool { held.isIntact && probe.isIntact }
    }

    package convenience init(besideVaultAt path: String) throws(StoreError) {
        try self.init(VaultFile(path))
    }

    init(_ file: VaultFile) throws(StoreError) {
        let held = try Self.openFile(file.lockPath)
        let probe = try Self.openFile(file.lockPath)
        guard let owner = Self.takeByte(held) else {
            throw StoreError(
                .io(errno), "the lock file \(file.lockPath) cannot be locked", hint: "put the vault on a local disk")
        }
        self.owner = owner
        path = file.lockPath
        process = getpid()
        files = Mutex(Files(held: held, probe: probe))
    }

    /// Of a process that can only read: it owns nothing, and learns of others from the lock file, if it can be opened.
    init(readOnly file: VaultFile) {
        owner = 0
        path = file.lockPath
        process = getpid()
        let number = unsafe open(file.lockPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        let probe = number >= 0 ? Descriptor(number) : nil
        files = Mutex(probe.map { Files(held: $0, probe: $0) })
    }

    private static func takeByte(_ file: Descriptor) -> Int64? {
        for _ in 0..<16 {
            let candidate = Int64.random(in: 1..<(1 << 62))
            if file.setLock(start: candidate, length: 1) { return candidate }
        }
        return nil
    }

    private static func openFile(_ path: String) throws(StoreError) -> Descriptor {
        var number = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if number >= 0 {
            // The mode is ours to choose, whatever the umask.
            fchmod(number, 0o600)
        } else if errno == EEXIST {
            number = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        }
        guard number >= 0 else {
            if errno == ELOOP { throw VaultFile.unsafe("its lock file is a symbolic link", "remove \(path)") }
            throw VaultFile.creationError(errno, path)
        }
        guard let file = Descriptor(number) else { throw StoreError(.io(errno), "\(path) cannot be read") }
        try VaultFile.check(descriptor: file.number, path)
        return file
    }

    /// Whether the process of that name lives.
    ///
    /// An error of the system counts as alive, and so does everybody while the lock file is not the one that all know:
    /// it must never free somebody else's intent.
    package func isAlive(_ owner: Int64) -> Bool {
        guard owner > 0 else { return false }
        if ForkGuard.isForked { return true }
        return files.withLock { files in
            guard let files, isUsable(files) else { return true }
            return files.probe.isLockedElsewhere(start: owner, length: 1) ?? true
        }
    }

    /// Whether others see this process's byte as locked: they look at the file of that name, through descriptors of
    /// their own.
    package var isHeld: Bool {
        if ForkGuard.isForked { return false }
        return files.withLock { files in
            guard let files, isUsable(files) else { return false }
            return files.probe.isLockedElsewhere(start: owner, length: 1) == true
        }
    }

    /// Whether the WAL may end with something that was never synced: a commit that failed, and of which nobody has found
    /// out yet what became of it.
    ///
    /// A byte of the lock file that all processes know, and never synced itself: it lasts as long as what the kernel
    /// believes to have written. After a loss of power the WAL is what the disk has, and needs no mark.
    var isWALDoubtful: Bool {
        get {
            files.withLock { files in
                guard let files else { return false }
                var mark: UInt8 = 0
                return unsafe pread(files.held.number, &mark, 1, 0) == 1 && mark != 0
            }
        }
        set {
            files.withLock { files in
                guard let files else { return }
                var mark: UInt8 = newValue ? 1 : 0
                unsafe _ = pwrite(files.held.number, &mark, 1, 0)
            }
        }
    }

    /// Whether nobody else has the vault open: no other process, and no other store of this one. Not before the system says
    /// so for certain.
    var isAlone: Bool {
        files.withLock { files in
            guard let files, isOurProcess else { return false }
            return files.held.isLockedElsewhere(start: 1, length: (1 << 62) - 1) == false
        }
    }

    private func isUsable(_ files: Files) -> Bool {
        isOurProcess && files.areIntact && Descriptor.Identity(path: path) == files.held.identity
    }

    private var isOurProcess: Bool { !ForkGuard.isForked && getpid() == process }

    /// Whether this is the process that opened the vault, and nobody closed the lock's descriptors: then he has closed
    /// SQLite's too, and their numbers may be anything by now.
    var isIntact: Bool {
        isOurProcess && files.withLock { $0?.areIntact ?? true }
    }

    /// Lets others take over from this process. It holds no lock any more and knows of nobody's death.
    func release() { files.withLock { $0 = nil } }
}
