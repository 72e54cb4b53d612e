import Platform

/// The processes that read from a vault's WAL, and so keep it from restarting, and the one that writes.
///
/// They come from the kernel's list of locks. The lock file itself must not be opened: closing it would drop the locks
/// that SQLite holds on it for this process.
enum WALLocks {
    /// SQLite's locks for readers in the WAL index (https://sqlite.org/walformat.html#wal_locks).
    private static let readers: ClosedRange<Int64> = 123...127
    /// SQLite's lock for the writer.
    private static let writer: ClosedRange<Int64> = 120...120

    /// The ids of the reading processes, including this one if it reads; empty if the system does not report them.
    static func readers(besideVaultAt path: String) -> [Int32] { processes(readers, besideVaultAt: path) }

    /// The process that holds the write lock; nil if there is none, or if the system does not report it.
    static func writer(besideVaultAt path: String) -> Int32? { processes(writer, besideVaultAt: path).first }

    private static func processes(_ bytes: ClosedRange<Int64>, besideVaultAt path: String) -> [Int32] {
        guard let file = FileIdentity(path: path + "-shm") else { return [] }
        let locks = KernelLock.all.filter { $0.inode == file.inode && $0.overlaps(bytes) }
        let device = file.deviceName
        // On some file systems the list has a different device number than `stat`.
        let ours = locks.contains { $0.device == device } ? locks.filter { $0.device == device } : locks
        return Set(ours.map(\.process)).sorted()
    }
}
