import Glibc
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
            guard unsafe rename(partial.path, path(version)) == 0 else {
                throw PrivateFile.creationError(errno, path(version))
            }
            try PrivateFile.synchronizeDirectory(partial.parent)
        } catch {
            _ = unsafe unlink(partial.path)
            throw error
        }
        for other in try list() where other.schemaVersion == version && other.path != path(version) { remove(other) }
        return path(version)
    }

    /// Sets the file's date by the vault's own clock, regardless of the file system's clock.
    private static func date(_ path: String, _ time: Timestamp) {
        let instant = timespec(
            tv_sec: Int(time.milliseconds / 1000), tv_nsec: Int(time.milliseconds % 1000) * 1_000_000)
        _ = unsafe utimensat(AT_FDCWD, path, [instant, instant], 0)
    }

    /// Whether another process is making a copy now, or was killed while making one.
    var hasPartial: Bool { (try? names().contains { $0.hasSuffix(Self.partialSuffix) }) ?? false }

    private func removePartial() throws(StoreError) {
        for name in try names() where name.hasSuffix(Self.partialSuffix) {
            for suffix in ["", "-journal"] { _ = unsafe unlink("\(file.parent)/\(name)\(suffix)") }
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
        var info = stat()
        guard unsafe lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        return MigrationSnapshot(
            path: path, schemaVersion: version,
            madeAt: Timestamp(
                milliseconds: Int64(info.st_mtim.tv_sec) * 1000 + Int64(info.st_mtim.tv_nsec) / 1_000_000),
            byteCount: Int64(info.st_size))
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

    private func remove(_ snapshot: MigrationSnapshot) { _ = unsafe unlink(snapshot.path) }

    func discard(_ snapshot: MigrationSnapshot) throws(StoreError) {
        guard unsafe unlink(snapshot.path) == 0 || errno == ENOENT else {
            throw StoreError(.io(errno), "\(snapshot.path) cannot be removed: \(SystemError.text(errno))")
        }
        try PrivateFile.synchronizeDirectory(file.parent)
    }

    /// Refuses copies that others could read or replace. Tries known names, as ``removeExpired(before:now:)`` does.
    func check(before version: Int) throws(StoreError) {
        var info = stat()
        for version in 1..<max(version, 2) where unsafe lstat(path(version), &info) == 0 {
            try PrivateFile.check(info, path(version), "its copy from before a migration")
        }
    }

    /// The names in the vault's directory that start like a copy's name.
    private func names() throws(StoreError) -> [String] {
        guard let stream = unsafe opendir(file.parent) else {
            throw StoreError(.io(errno), "the directory of the vault cannot be read: \(file.parent)")
        }
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(file.name + Self.infix) { names.append(name) }
        }
        return names
    }
}
