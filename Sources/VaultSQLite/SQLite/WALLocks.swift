import Glibc
import VaultStorage

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
        var info = stat()
        guard unsafe lstat(path + "-shm", &info) == 0 else { return [] }
        let locks = lines().compactMap(Lock.init).filter { $0.inode == info.st_ino && $0.overlaps(bytes) }
        let device = deviceName(info.st_dev)
        // On some file systems the list has a different device number than `stat`.
        let ours = locks.contains { $0.device == device } ? locks.filter { $0.device == device } : locks
        return Set(ours.map(\.process)).sorted()
    }

    private static func deviceName(_ device: dev_t) -> String {
        // glibc's macros major() and minor() cannot be imported.
        let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000
        let minor = device & 0xff | device >> 12 & 0xffff_ff00
        func hex(_ number: dev_t) -> String {
            let text = String(number, radix: 16)
            return text.count < 2 ? "0" + text : text
        }
        return "\(hex(major)):\(hex(minor))"
    }

    private struct Lock {
        let process: Int32
        let device: String
        let inode: ino_t
        let first: Int64
        let last: Int64

        /// `1: POSIX ADVISORY READ 1234 08:01:5678 123 123`; the end may be `EOF`. Waiting processes have an arrow.
        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count >= 8, words[1] == "POSIX", let process = Int32(words[4]), process > 0 else { return nil }
            let place = words[5].split(separator: ":")
            guard place.count == 3, let inode = UInt64(place[2]), let first = Int64(words[6]) else { return nil }
            self.process = process
            device = "\(place[0]):\(place[1])"
            self.inode = ino_t(inode)
            self.first = first
            last = Int64(words[7]) ?? .max
        }

        func overlaps(_ range: ClosedRange<Int64>) -> Bool { first <= range.upperBound && last >= range.lowerBound }
    }

    private static func lines() -> [Substring] {
        let descriptor = unsafe open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
