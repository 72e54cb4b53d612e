import Platform
import VaultCrypto
import VaultStorage

/// The copies of a vault from before its migrations, in its own directory: `<vault>.before-migration-<version>`.
///
/// There is at most one copy of each version: a new one replaces the previous one. A copy gets its name only once it is
/// complete and durable. Until then it is `<name>.partial`, which the next migration removes if the process that made
/// it was killed.
struct MigrationSnapshots {
    /// The first process that opens the vault after this time removes the copy.
    static let longestKept = Duration.seconds(30 * 86_400)

    let file: VaultFile

    init(of file: VaultFile) { self.file = file }

    private static let infix = ".before-migration-"
    private static let partialSuffix = ".partial"

    private func path(_ version: Int) -> String { "\(file.path)\(Self.infix)\(version)" }

    /// - Parameter connection: sees the vault's last commit, while another connection keeps all processes from
    ///   committing.
    func take(_ connection: Connection, version: Int, now: Timestamp) throws(StoreError) -> String {
        try removePartial()
        let size = try connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size")
        // The steps themselves need some space, too.
        try file.checkRoom(
            size + max(size / 4, 1 << 20), for: "the copy of the vault that is kept from before a migration")
        let partial = try VaultFile(path(version) + Self.partialSuffix)
        try partial.createEmpty()
        do throws(StoreError) {
            let statement = try Statement(connection, "VACUUM INTO ?1")
            statement.bind(1, partial.path)
            try statement.run()
            Self.date(partial.path, now)
            try PrivateFile.synchronize(partial.path, directory: partial.parent)
            do throws(SystemError) { try NamedFile(partial.path).rename(to: path(version)) } catch {
                throw PrivateFile.creationError(error, path(version))
            }
            try PrivateFile.synchronizeDirectory(partial.parent)
        } catch {
            NamedFile(partial.path).discard()
            throw error
        }
        for other in try list() where other.schemaVersion == version && other.path != path(version) { remove(other) }
        return path(version)
    }

    /// Sets the file's date by the vault's own clock, regardless of the file system's clock.
    private static func date(_ path: String, _ time: Timestamp) {
        try? NamedFile(path).setModified(at: time.milliseconds)
    }

    /// Whether another process is making a copy now, or was killed while making one.
    var hasPartial: Bool { (try? names().contains { $0.hasSuffix(Self.partialSuffix) }) ?? false }

    private func removePartial() throws(StoreError) {
        for name in try names() where name.hasSuffix(Self.partialSuffix) {
            for suffix in ["", "-journal"] { NamedFile("\(file.parent)/\(name)\(suffix)").discard() }
        }
    }

    /// Oldest version first. Former versions of the program wrote names that end in a random part.
    func list() throws(StoreError) -> [MigrationSnapshot] {
        let prefix = file.name + Self.infix
        let found = try names().compactMap { name -> MigrationSnapshot? in
            let parts = name.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count <= 2, let version = parts.first.flatMap({ Int($0) }), version > 0,
                parts.count < 2 || Base32.decode(String(parts[1])) != nil
            else { return nil }
            return snapshot("\(file.parent)/\(name)", version)
        }
        return found.sorted { ($0.schemaVersion, $0.madeAt) < ($1.schemaVersion, $1.madeAt) }
    }

    private func snapshot(_ path: String, _ version: Int) -> MigrationSnapshot? {
        guard let status = try? FileStatus(at: path), status.kind == .regular else { return nil }
        return MigrationSnapshot(
            path: path, schemaVersion: version, madeAt: Timestamp(milliseconds: status.modifiedAt),
            byteCount: status.size)
    }

    /// Removes expired copies. Tries known names instead of listing the directory, because every opening does this.
    func removeExpired(before version: Int, now: Timestamp) {
        for version in 1..<max(version, 2) {
            guard let snapshot = snapshot(path(version), version),
                now.since(snapshot.madeAt) > Self.longestKept
            else { continue }
            remove(snapshot)
        }
    }

    private func remove(_ snapshot: MigrationSnapshot) { NamedFile(snapshot.path).discard() }

    func discard(_ snapshot: MigrationSnapshot) throws(StoreError) {
        do throws(SystemError) { try NamedFile(snapshot.path).remove() } catch {
            guard error == .notFound else {
                throw StoreError(.io(error), "\(snapshot.path) cannot be removed: \(error.text)")
            }
        }
        try PrivateFile.synchronizeDirectory(file.parent)
    }

    /// Refuses copies that others could read or replace. Tries known names, as ``removeExpired(before:now:)`` does.
    func check(before version: Int) throws(StoreError) {
        for version in 1..<max(version, 2) {
            guard let status = try? FileStatus(at: path(version)) else { continue }
            try PrivateFile.check(status, path(version), "its copy from before a migration")
        }
    }

    /// The names in the vault's directory that start like a copy's name.
    private func names() throws(StoreError) -> [String] {
        do throws(SystemError) {
            return try Directory.names(in: file.parent).filter { $0.hasPrefix(file.name + Self.infix) }
        } catch {
            throw StoreError(.io(error), "the directory of the vault cannot be read: \(file.parent)")
        }
    }
}
