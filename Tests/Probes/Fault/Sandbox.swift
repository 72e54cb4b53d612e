import Foundation
import TestSupport
import VaultCrypto
import VaultSQLite
import VaultStorage

/// The files of a vault without open connections.
struct Image {
    var files: [String: [UInt8]]

    /// With the lock file, where it is written that a WAL may be doubtful.
    static let names = ["vault.db", "vault.db-wal", "vault.db.lock", "vault.key", "spare.key"]

    /// The same without lock file: then the WAL may be doubtful for all one knows.
    var withoutLockFile: Image { Image(files: files.filter { $0.key != "vault.db.lock" }) }

    init(files: [String: [UInt8]]) { self.files = files }

    init(of sandbox: Sandbox) {
        files = [:]
        for name in Self.names {
            if let data = FileManager.default.contents(atPath: sandbox.file(name)) { files[name] = [UInt8](data) }
        }
    }
}

/// A directory of its own for one vault, in memory where possible.
final class Sandbox: Sendable {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)
    let directory: String
    private let isOurs: Bool

    var path: String { file("vault.db") }
    var keyPath: String { file("vault.key") }

    init(_ image: Image? = nil, in parent: String? = nil) throws {
        let parent = parent ?? PrivateDirectory.fastParent
        var template = Array("\(parent)/vault-fault-XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else { throw POSIXError(.EIO) }
        isOurs = true
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let image else {
            _ = try KeyFile.create(at: keyPath)
            return
        }
        for (name, bytes) in image.files { try write(bytes, to: name) }
    }

    /// Somebody else's, who removes it.
    init(existing directory: String) {
        self.directory = directory
        isOurs = false
    }

    deinit { if isOurs { try? FileManager.default.removeItem(atPath: directory) } }

    func file(_ name: String) -> String { directory + "/" + name }

    func write(_ bytes: [UInt8], to name: String) throws {
        let descriptor = unsafe Glibc.open(file(name), O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw POSIXError(.EIO) }
            rest = rest.dropFirst(count)
        }
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] }

    func create() throws(StoreError) -> SQLiteVaultStore {
        try SQLiteVaultStore.create(
            at: path, firstSlot: KeyFileUnlocker(path: keyPath), label: "first", cachedLogins: Depth.cachedLogins,
            clock: { Self.now })
    }

    func open(key: String = "vault.key", migrate: Bool = false) throws(StoreError) -> SQLiteVaultStore {
        try SQLiteVaultStore.open(
            at: path, unlocker: KeyFileUnlocker(path: file(key)), migrate: migrate, cachedLogins: Depth.cachedLogins,
            clock: { Self.now })
    }
}
