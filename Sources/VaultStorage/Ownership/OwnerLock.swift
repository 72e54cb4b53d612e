import Glibc
import VaultCrypto

/// Liveness of processes: each holds an exclusive lock on one byte of `<vault>.lock` for as long as it lives, and the
/// byte's offset is its name. The kernel frees the byte at the moment in which the process ends, however it ends; one
/// that is only stopped keeps it, and is never taken for dead.
///
/// The locks are those of an open file description (`F_OFD_SETLK`): closing another descriptor of the file does not
/// drop them, as it would with plain POSIX locks.
package final class OwnerLock: Sendable {
    /// From 1 to 2⁶² − 1, random.
    package let owner: Int64
    private let held: Int32
    /// A second open file description, which sees the first one's lock as a stranger's.
    private let probe: Int32

    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37

    package convenience init(besideVaultAt path: String) throws(StoreError) {
        try self.init(VaultFile(path))
    }

    init(_ file: VaultFile) throws(StoreError) {
        let path = file.lockPath
        let held = try Self.openFile(path)
        let probe: Int32
        do throws(StoreError) {
            probe = try Self.openFile(path)
        } catch {
            close(held)
            throw error
        }
        guard let owner = Self.takeByte(held) else {
            close(held)
            close(probe)
            throw StoreError(
                .io(errno), "the lock file \(path) cannot be locked", hint: "put the vault on a local disk")
        }
        self.owner = owner
        self.held = held
        self.probe = probe
    }

    deinit {
        close(held)
        close(probe)
    }

    private static func takeByte(_ descriptor: Int32) -> Int64? {
        for _ in 0..<16 {
            let candidate = Int64.random(in: 1..<(1 << 62))
            var lock = region(candidate, type: Int16(F_WRLCK))
            if unsafe fcntl(descriptor, setLock, &lock) == 0 { return candidate }
        }
        return nil
    }

    private static func openFile(_ path: String) throws(StoreError) -> Int32 {
        var descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 {
            // The mode is ours to choose, whatever the umask.
            fchmod(descriptor, 0o600)
        } else if errno == EEXIST {
            descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        }
        guard descriptor >= 0 else {
            if errno == ELOOP { throw VaultFile.unsafe("its lock file is a symbolic link", "remove \(path)") }
            throw VaultFile.creationError(errno, path)
        }
        var info = stat()
        do throws(StoreError) {
            guard unsafe fstat(descriptor, &info) == 0 else { throw StoreError(.io(errno), "\(path) cannot be read") }
            try VaultFile.check(info, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func region(_ owner: Int64, type: Int16) -> flock {
        flock(l_type: type, l_whence: Int16(SEEK_SET), l_start: off_t(owner), l_len: 1, l_pid: 0)
    }

    /// Whether the process of that name lives. Its own name counts as alive only while the lock is really held.
    ///
    /// An error of the system counts as alive: it must never free somebody else's intent.
    package func isAlive(_ owner: Int64) -> Bool {
        guard owner > 0 else { return false }
        var lock = Self.region(owner, type: Int16(F_WRLCK))
        guard unsafe fcntl(probe, Self.getLock, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// Whether this process still holds its byte; a host that closes foreign descriptors would drop it.
    package var isHeld: Bool { isAlive(owner) }
}
