import CSQLite
import Platform
import VaultCrypto
import VaultStorage

/// A backup that is complete, checked and durable, but has no name yet.
struct VaultCopy: Sendable {
    let record: BackupRecord
    private let file: PartialFile

    /// Copies the vault as of one moment. Its snapshot blocks no process; only the log grows meanwhile.
    init(
        _ plan: BackupPlan, of database: Database, _ context: VaultContext, now: Timestamp,
        _ progress: @escaping @Sendable (Int, Int) -> Void
    ) throws(StoreError) {
        let source = try database.connect()
        try source.prepareForInspection()
        let (target, size) = try Self.place(of: plan, source, database, now)
        PartialFile.removeLeftovers(in: target.parent, of: target.name)
        let file = try PartialFile(for: target)
        plan.onStep(.reserved)
        try Self.copy(source, ofVaultAt: database.path, into: file, size, progress)
        source.close()
        plan.onStep(.copied)
        let (manifest, own) = try Self.manifest(file, plan, context, now)
        plan.onStep(.changed)
        try file.write(
            BackupContainer(manifest, manifest.mac(own)).encoded(), at: manifest.byteCount)
        plan.onStep(.sealed)
        self.file = file
        record = BackupRecord(
            handle: manifest.backup, madeAt: manifest.madeAt, auditSequence: manifest.vaultSequence,
            byteCount: file.byteCount, path: target.path, recipients: manifest.recipients)
    }

    func finish() throws(StoreError) { try file.finish() }

    // MARK: Destination

    /// Returns the backup's path and its size. Refuses a path that is not allowed or not usable.
    static func place(
        of plan: BackupPlan, _ source: Connection, _ database: Database, _ now: Timestamp
    ) throws(StoreError) -> (target: VaultFile, byteCount: Int64) {
        let target = try target(plan, of: database, try source.integer("SELECT max(sequence) FROM audit"), now)
        try checkPlace(of: target, plan, database)
        let size = try source.integer("PRAGMA page_count") * source.integer("PRAGMA page_size")
        try target.checkRoom(size + (1 << 20), for: "the backup")
        return (target, size)
    }

    private static func target(
        _ plan: BackupPlan, of database: Database, _ head: Int64, _ now: Timestamp
    ) throws(StoreError) -> VaultFile {
        guard isDirectory(plan.target) else {
            let target: VaultFile
            do throws(StoreError) { target = try VaultFile(plan.target, trustsFileSystem: true) } catch {
                guard !plan.target.hasSuffix("/") else {
                    throw StoreError(
                        .io(.notFound), "there is no directory \(PathName.shown(plan.target))",
                        hint: PathName.adviceToMake(plan.target))
                }
                guard error.code == .vaultMissing else { throw error }
                throw StoreError(
                    .io(.notFound), "\(PathName.shown(plan.target)) cannot be made: its directory does not exist",
                    hint: PathName.adviceToMake(PathName.directory(of: plan.target)))
            }
            guard isDirectory(target.parent) else {
                throw StoreError(
                    .io(.notDirectory), "\(PathName.shown(plan.target)) cannot be made: \(target.parent) is a file",
                    hint: "name a directory, or a file in one")
            }
            if target.exists { throw PrivateFile.creationError(.exists, target.path) }
            return target
        }
        let vault = try VaultFile(database.path, trustsFileSystem: true).name
        let prefix = vault + "-"
        PartialFile.removeLeftovers(in: plan.target, of: prefix)
        let name = BackupPlan.name(ofVault: vault, at: now, head: head)
        let target = try VaultFile("\(plan.target)/\(name)", trustsFileSystem: true)
        if target.exists { throw PrivateFile.creationError(.exists, target.path) }
        return target
    }

    private static func checkPlace(
        of target: VaultFile, _ plan: BackupPlan, _ database: Database
    ) throws(StoreError) {
        do throws(StoreError) { try target.checkDirectoryAccess() } catch {
            throw refusal(of: plan.target, error)
        }
        let (own, other): (FileStatus, FileStatus)
        do throws(SystemError) {
            own = try FileStatus(at: target.parent, followingLinks: true)
            other = try FileStatus(at: database.path, followingLinks: true)
        } catch {
            throw StoreError(.io(error), "\(target.parent) cannot be looked at")
        }
        guard plan.allowsSameDevice || own.identity.device != other.identity.device else {
            let path = PathName.shown(plan.target)
            guard isDirectory(plan.target) else {
                throw StoreError(
                    .unsafeFile,
                    "there is no directory \(path), and as a file the backup would lie on the vault's own device, and be "
                        + "lost with it",
                    hint:
                        "is its disk mounted? name a directory on another device; for a file that is copied away from "
                        + "here, add --same-device")
            }
            throw StoreError(
                .unsafeFile, "\(path) is on the vault's own device: the backup would be lost with the vault",
                hint: "name a directory on another device; if it is copied away from here, add --same-device")
        }
    }

    /// The same error in terms of a backup. A missing directory is treated as part of the file's name.
    private static func refusal(of path: String, _ error: StoreError) -> StoreError {
        guard error.code == .unsafeFile else { return error }
        guard isDirectory(path) else {
            return StoreError(
                error.code,
                "\(PathName.shown(path)) is no directory that is there, and as a file it would lie where others may write",
                hint: PathName.adviceToMake(path))
        }
        // `/tmp` is meant to be as it is.
        let isSticky = (try? FileStatus(at: path, followingLinks: true))?.isSticky == true
        return StoreError(
            error.code, "no backup is made in \(PathName.shown(path)): others may write to it",
            hint: isSticky
                ? "make a directory of your own in it, or elsewhere: mkdir -m 700 DIRECTORY"
                : "run `chmod go-w \(PathName.shown(path))`, or make another directory: mkdir -m 700 DIRECTORY")
    }

    private static func isDirectory(_ path: String) -> Bool {
        (try? FileStatus(at: path, followingLinks: true))?.kind == .directory
    }

    // MARK: Copying

    private static func copy(
        _ source: Connection, ofVaultAt vault: String, into file: PartialFile, _ size: Int64,
        _ progress: @escaping @Sendable (Int, Int) -> Void
    ) throws(StoreError) {
        let watch = CopyWatch(file, size, progress)
        let announcement = LockFile(besideVaultAt: vault)
        announcement?.announceLongSnapshot()
        defer { withExtendedLifetime(announcement) {} }
        do throws(StoreError) {
            try watch.during(source) { () throws(StoreError) in
                let statement = try Statement(source, "VACUUM INTO ?1")
                statement.bind(1, file.path)
                try statement.run()
            }
        } catch {
            if BlockingWork.isCancelled { throw StoreError(.closed, "the backup was cancelled before it was complete") }
            throw error
        }
    }

    /// Seals the copy again for its recipients, if it has any, and checks it. Also returns the copy's keys: the vault
    /// may have changed its keys since.
    private static func manifest(
        _ file: PartialFile, _ plan: BackupPlan, _ context: VaultContext, _ now: Timestamp
    ) throws(StoreError) -> (BackupManifest, VaultContext) {
        let (head, own) = try seal(file, for: plan.recipients, context)
        return (try check(file, plan, own, now, head), own)
    }

    /// Returns the end of the vault's trail, and the keys to read the copy with.
    private static func seal(
        _ file: PartialFile, for recipients: [Recipient], _ context: VaultContext
    ) throws(StoreError) -> (head: Int64, VaultContext) {
        let copy = try Connection(path: file.path)
        defer { copy.close() }
        try copy.prepareForInspection()
        let head = try BackupManifest.head(copy).sequence
        let own = try context.forked(copy)
        if recipients.isEmpty { return (head, own) }
        try copy.prepareToChangeUnseen()
        try copy.execute("BEGIN IMMEDIATE")
        let transaction = try WriteTransaction(copy, own)
        try transaction.begin()
        try transaction.isolate(for: recipients)
        try copy.execute("COMMIT")
        return (head, own)
    }

    /// The copy must open as a vault before it counts as a backup.
    private static func check(
        _ file: PartialFile, _ plan: BackupPlan, _ context: VaultContext, _ now: Timestamp, _ vaultSequence: Int64
    ) throws(StoreError) -> BackupManifest {
        let byteCount = file.byteCount
        let copy = try Connection(path: file.path, access: .immutable)
        try copy.prepareForInspection()
        try VaultSchema.check(copy)
        if let problem = try QuickCheck.problem(of: copy) { throw .damagedBackup(problem) }
        guard try copy.integer("PRAGMA page_count") * copy.integer("PRAGMA page_size") == byteCount else {
            throw .damagedBackup("its file does not have the length of its pages")
        }
        try BackupSample.check(copy, context, users: plan.sampledUsers)
        try file.write(
            DatabaseHeader.bytes(of: BackupContainer.applicationID), at: DatabaseHeader.applicationIDOffset)
        var digest = DigestStream()
        try unsafe file.read { unsafe digest.add($0) }
        let manifest = try BackupManifest(
            of: copy, context, backup: .random(), madeAt: now, vaultSequence: vaultSequence, byteCount: byteCount,
            digest: digest.finish(), recipients: plan.recipients.map(\.text), toolVersion: plan.toolVersion)
        copy.close()
        return manifest
    }
}

/// SQLite's page check without comparing indexes to their tables, which takes eight times as long.
enum QuickCheck {
    static func problem(of connection: Connection) throws(StoreError) -> String? {
        let answer = try connection.text("PRAGMA quick_check(1)")
        return answer == "ok" ? nil : answer
    }
}

/// Watches a long statement: reports its progress, and ends it on cancellation.
@safe private final class CopyWatch {
    private let file: PartialFile
    private let size: Int64
    private let progress: @Sendable (Int, Int) -> Void

    init(_ file: PartialFile, _ size: Int64, _ progress: @escaping @Sendable (Int, Int) -> Void) {
        self.file = file
        self.size = size
        self.progress = progress
    }

    func during(_ connection: Connection, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        unsafe sqlite3_progress_handler(
            connection.handle, Connection.stepsBetweenLooks,
            { watch in
                guard let watch = unsafe watch else { return 0 }
                return unsafe Unmanaged<CopyWatch>.fromOpaque(watch).takeUnretainedValue().look()
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { unsafe sqlite3_progress_handler(connection.handle, 0, nil, nil) }
        try body()
    }

    /// A result other than 0 ends the statement.
    private func look() -> Int32 {
        let kibibytes = { (bytes: Int64) in Int(clamping: bytes >> 10) }
        progress(kibibytes(min(file.byteCount, size)), kibibytes(size))
        return BlockingWork.isCancelled ? 1 : 0
    }
}
