import Glibc
package import VaultCrypto
import VaultMigrations
package import VaultStorage

/// An existing backup. Reading it needs no key and changes nothing.
package final class BackupFile: Sendable {
    package let path: String
    package let container: BackupContainer
    private let descriptor: Int32

    package var manifest: BackupManifest { container.manifest }

    package init(at path: String) throws(StoreError) {
        let file = try VaultFile(path, trustsFileSystem: true)
        self.path = file.path
        descriptor = unsafe open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw errno == ENOENT
                ? StoreError(.notFound(.backup), "there is no backup at \(file.path)", hint: "check the path")
                : StoreError(.io(errno), "the backup at \(file.path) cannot be read", hint: "check owner and mode")
        }
        do throws(StoreError) {
            container = try Self.container(descriptor, file.path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// An older one is migrated when it is restored.
    var isOfThisSchema: Bool { manifest.schemaVersion == Int64(Migrations.all.last?.version ?? 0) }

    private static func container(_ descriptor: Int32, _ path: String) throws(StoreError) -> BackupContainer {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.notABackup, "\(path) is not a regular file", hint: "check the path")
        }
        let size = Int64(info.st_size)
        func last(_ count: Int) throws(StoreError) -> [UInt8] {
            guard size >= Int64(count) else { return [] }
            var bytes: [UInt8] = []
            try unsafe ByteStream(descriptor, path).read(Int64(count), from: size - Int64(count)) {
                unsafe bytes.append(contentsOf: $0)
            }
            return bytes
        }
        let trailer = try last(BackupContainer.trailerByteCount)
        let count = try BackupContainer.tailByteCount(trailer, fileByteCount: size)
        return try BackupContainer(tail: try last(count))
    }

    /// Reads the whole database and refuses it unless it matches the manifest.
    package func checkBytes() throws(StoreError) { try unsafe checkBytes { _ in } }

    func checkBytes(
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        var digest = DigestStream()
        try unsafe ByteStream(descriptor, path).read(manifest.byteCount) { piece throws(StoreError) in
            unsafe digest.add(piece)
            try unsafe body(piece)
        }
        guard digest.finish() == manifest.digest else {
            throw .damagedBackup("its bytes are not those that its manifest names")
        }
    }

    /// Checks every page as SQLite sees it, and that the schema holds nothing foreign.
    package func checkDatabase() throws(StoreError) {
        let connection = try connect()
        defer { connection.close() }
        if let problem = try QuickCheck.problem(of: connection) { throw .damagedBackup(problem) }
        guard isOfThisSchema else { return }
        try VaultSchema.check(connection)
        try manifest.check(connection)
    }

    /// Checks everything with a key: the manifest's MAC, every cell and the chain.
    package func verify(
        by unlocker: any SlotUnlocker, policy: UnlockingPolicy, clock: @escaping @Sendable () -> Timestamp,
        _ progress: (VerificationProgress) -> Void
    ) throws(StoreError) -> VerificationReport {
        let connection = try connect()
        defer { connection.close() }
        let context = try unlock(connection, unlocker, policy, clock)
        return try VaultCheck(connection, context).run(progress)
    }

    func unlock(
        _ connection: Connection, _ unlocker: any SlotUnlocker, _ policy: UnlockingPolicy,
        _ clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> VaultContext {
        try VaultSchema.check(connection)
        guard let context = try VaultContext.open(connection, unlocker: unlocker, policy: policy, clock: clock) else {
            throw .damagedBackup("the vault's own row is missing")
        }
        try container.authenticate(context)
        return context
    }

    func connect() throws(StoreError) -> Connection {
        let connection = try Connection(path: path, access: .immutable)
        connection.applicationID = BackupContainer.applicationID
        try connection.prepareForInspection()
        return connection
    }
}
