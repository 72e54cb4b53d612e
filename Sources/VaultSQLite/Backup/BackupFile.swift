import Platform
package import VaultCrypto
import VaultMigrations
package import VaultStorage

/// An existing backup. Reading it needs no key and changes nothing.
package final class BackupFile: Sendable {
    package let path: String
    package let container: BackupContainer
    private let file: Descriptor

    package var manifest: BackupManifest { container.manifest }

    package init(at path: String) throws(StoreError) {
        let path = try VaultFile(path, trustsFileSystem: true).path
        self.path = path
        do throws(SystemError) {
            file = try Descriptor(path, for: .reading, [.notThroughLink, .withoutWaiting, .notOurTerminal])
        } catch {
            throw error == .notFound
                ? StoreError(.notFound(.backup), "there is no backup at \(path)", hint: "check the path")
                : StoreError(.io(error), "the backup at \(path) cannot be read", hint: "check owner and mode")
        }
        container = try Self.container(file, path)
    }

    /// An older one is migrated when it is restored.
    var isOfThisSchema: Bool { manifest.schemaVersion == Int64(Migrations.all.last?.version ?? 0) }

    private static func container(_ file: Descriptor, _ path: String) throws(StoreError) -> BackupContainer {
        guard let status = try? file.status(), status.kind == .regular else {
            throw StoreError(.notABackup, "\(path) is not a regular file", hint: "check the path")
        }
        let size = status.size
        func last(_ count: Int) throws(StoreError) -> [UInt8] {
            guard size >= Int64(count) else { return [] }
            var bytes: [UInt8] = []
            try unsafe ByteStream(file, path).read(Int64(count), from: size - Int64(count)) {
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
        try unsafe ByteStream(file, path).read(manifest.byteCount) { piece throws(StoreError) in
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
