import FoundationEssentials
import Platform

/// A directory for one test, removed with its owner, or after a crash when the next one is made.
///
/// While it is in use, its owner holds a lock on it, which ends with the process.
final class TestDirectory: Sendable {
    static let prefix = "token-vault-test-"

    let path: String
    private let lock: Descriptor?

    /// - Parameter parent: An existing directory, in memory or on disk.
    init(in parent: String) throws {
        Self.removeAbandoned(in: parent)
        let name = UUID().uuidString
        let new = parent + "/.new-" + Self.prefix + name
        path = parent + "/" + Self.prefix + name
        try FileManager.default.createDirectory(
            atPath: new, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        lock = Self.lock(new)
        // It is locked before it gets its name, so that it is never mistaken for an abandoned one.
        try FileManager.default.moveItem(atPath: new, toPath: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        withExtendedLifetime(lock) {}
    }

    /// Linux's shared memory, if this process may write there.
    static var memory: String? {
        let path = "/dev/shm"
        return NamedFile(path).allows(.changing) ? path : nil
    }

    private static func lock(_ path: String) -> Descriptor? {
        guard let directory = try? Descriptor(path, for: .reading, [.directory, .notThroughLink]) else { return nil }
        return (try? directory.lockWhole()) == nil ? nil : directory
    }

    private static func removeAbandoned(in parent: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent) else { return }
        for name in names where name.hasPrefix(prefix) {
            let path = parent + "/" + name
            guard let lock = lock(path) else { continue }
            try? FileManager.default.removeItem(atPath: path)
            withExtendedLifetime(lock) {}
        }
    }
}
