import Glibc
import VaultStorage

/// The lock file of a vault, for code that has no store. ``OwnerLock`` describes its contents.
final class LockFile {
    /// How long a process waits for others that are closing the vault. One of them may be stopped midway.
    private static let patience = Duration.seconds(2)

    private let file: Descriptor

    /// - Returns: `nil` if the lock file is missing or unusable.
    init?(besideVaultAt path: String, creating: Bool = false) {
        let number = unsafe open(path + ".lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creating ? O_CREAT : 0), 0o600)
        guard number >= 0, let file = Descriptor(number) else { return nil }
        self.file = file
    }

    /// See ``OwnerLock/isWALDoubtful``.
    var isWALDoubtful: Bool {
        get {
            var mark: UInt8 = 0
            return unsafe pread(file.number, &mark, 1, 0) == 1 && mark != 0
        }
        set {
            var mark: UInt8 = newValue ? 1 : 0
            unsafe _ = pwrite(file.number, &mark, 1, 0)
        }
    }

    /// Announces to all processes a snapshot that lasts too long to wait for, until this object is released.
    func announceLongSnapshot() { _ = file.setLock(.shared, start: OwnerLock.snapshotLock, length: 1) }

    /// Waits until no other process is closing the vault. The lock is held until this object is released.
    ///
    /// SQLite moves the WAL into the database file when the very last connection closes. Of two processes that close at
    /// the same moment, each finds the other one still connected, and neither would be the last.
    func takeClosingTurn() {
        let end = SuspendingClock.now + Self.patience
        while !file.setLock(start: 0, length: 1), SuspendingClock.now < end { usleep(1000) }
    }
}

extension Connection {
    /// Closes a connection that belongs to no store, so that it leaves a complete file behind if it is the last one.
    func closeAsLast(of path: String) {
        let lockFile = LockFile(besideVaultAt: path)
        lockFile?.takeClosingTurn()
        close(checkpointing: !(lockFile?.isWALDoubtful ?? false))
        withExtendedLifetime(lockFile) {}
    }
}
