import FoundationEssentials
import Glibc

/// A directory for one test, removed with its owner, or after a crash when the next one is made.
///
/// While it is in use, its owner holds a lock on it, which ends with the process.
final class TestDirectory: Sendable {
    static let prefix = "token-vault-test-"

    let path: String
    private let lock: Int32

    /// - Parameter parent: An existing directory, in memory or on disk.
    init(in parent: String) throws {
        Self.removeAbandoned(in: parent)
        let name = UUID().uuidString
        let new = parent + "/.new-" + Self.prefix + name
        path = parent + "/" + Self.prefix + name
        try FileManager.default.createDirectory(
            atPath: new, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        lock = Self.lock(new) ?? -1
        // It is locked before it gets its name, so that it is never mistaken for an abandoned one.
        try FileManager.default.moveItem(atPath: new, toPath: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        if lock >= 0 { close(lock) }
    }

    /// Linux's shared memory, if this process may write there.
    static var memory: String? {
        let path = "/dev/shm"
        return unsafe access(path, W_OK | X_OK) == 0 ? path : nil
    }

    private static func lock(_ path: String) -> Int32? {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func removeAbandoned(in parent: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent) else { return }
        for name in names where name.hasPrefix(prefix) {
            let path = parent + "/" + name
            guard let lock = lock(path) else { continue }
            try? FileManager.default.removeItem(atPath: path)
            close(lock)
        }
    }
}
