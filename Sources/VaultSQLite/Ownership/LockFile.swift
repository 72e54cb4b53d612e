import Platform
import VaultStorage

/// The lock file of a vault, for code that has no store. ``OwnerLock`` describes its contents.
final class LockFile {
    /// How long a process waits for others that are closing the vault. One of them may be stopped midway.
    private static let timeLimit = Duration.seconds(2)

    private let file: GuardedDescriptor

    /// - Returns: `nil` if the lock file is missing or unusable.
    init?(besideVaultAt path: String, creating: Bool = false) {
        let options: OpeningOptions = creating ? [.notThroughLink, .create] : .notThroughLink
        guard let file = try? GuardedDescriptor(path + ".lock", options) else { return nil }
        self.file = file
    }

    /// See ``OwnerLock/isWALDoubtful``.
    var isWALDoubtful: Bool {
        get { file.isMarkedDoubtful }
        set { file.mark(newValue) }
    }

    /// Announces to all processes a snapshot that lasts too long to wait for, until this object is released.
    func announceLongSnapshot() { _ = file.setLock(.shared, start: OwnerLock.snapshotLock, length: 1) }

    /// Waits until no other process is closing the vault. The lock is held until this object is released.
    ///
    /// SQLite moves the WAL into the database file when the very last connection closes. Of two processes that close at
    /// the same moment, each finds the other one still connected, and neither would be the last.
    func takeClosingTurn() {
        let end = SuspendingClock.now + Self.timeLimit
        while !file.setLock(start: 0, length: 1), SuspendingClock.now < end {
            CurrentThread.pause(microseconds: 1_000)
        }
    }
}

extension GuardedDescriptor {
    /// The mark in a lock file; see ``OwnerLock/isWALDoubtful``.
    var isMarkedDoubtful: Bool { (try? read(atMost: 1, at: 0))?.contains { $0 != 0 } ?? false }

    func mark(_ isDoubtful: Bool) { _ = try? write([isDoubtful ? 1 : 0], at: 0) }
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
