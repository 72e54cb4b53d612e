import Platform
import VaultStorage

/// The lock file of a vault, for what has no store: see ``OwnerLock`` for what stands in it.
final class LockFile {
    /// How long a process waits for others that close the vault. One of them may have been stopped in the middle.
    private static let patience = Duration.seconds(2)

    private let file: GuardedDescriptor

    /// - Returns: `nil` if there is none, or none that may be used.
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

    /// Tells all processes that a snapshot is held which lasts too long to be waited for; until this object is gone.
    func announceLongSnapshot() { _ = file.setLock(.shared, start: OwnerLock.snapshotLock, length: 1) }

    /// Waits until no other process is closing the vault; kept until this object is gone.
    ///
    /// SQLite moves the WAL into the database file when the last connection of all closes. Of two processes that close at
    /// the same moment each finds the other one still there, and neither would be the last.
    func takeClosingTurn() {
        let end = SuspendingClock.now + Self.patience
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
    /// Closes a connection that no store has, so that it leaves a whole file behind if it is the last one.
    func closeAsLast(of path: String) {
        let lockFile = LockFile(besideVaultAt: path)
        lockFile?.takeClosingTurn()
        close(checkpointing: !(lockFile?.isWALDoubtful ?? false))
        withExtendedLifetime(lockFile) {}
    }
}
