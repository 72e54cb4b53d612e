import Glibc

extension SQLiteVaultStore {
    package func files() -> [FileReport] { Self.files(at: context.path) }

    /// The files of a vault that need not be open. Where a directory is missing, so is everything in it.
    package static func files(at path: String) -> [FileReport] {
        let path = (try? VaultFile(path))?.path ?? path
        var reports: [FileReport] = []
        if let file = try? VaultFile(path) {
            reports.append(report(.directory, file.parent) { _ throws(StoreError) in try file.checkDirectory() })
        }
        let files: [(FileReport.Role, String)] = [
            (.vault, path), (.wal, path + "-wal"), (.sharedMemory, path + "-shm"), (.lock, path + ".lock"),
        ]
        for (role, path) in files {
            reports.append(report(role, path) { info throws(StoreError) in try VaultFile.check(info, path) })
        }
        reports.append(report(.spool, path + ".spool") { info throws(StoreError) in try checkSpool(info, path) })
        return reports
    }

    /// Looked at by name, never opened: closing one of them would drop SQLite's locks.
    private static func report(
        _ role: FileReport.Role, _ path: String, _ check: (stat) throws(StoreError) -> Void
    ) -> FileReport {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else {
            let isMissing = errno == ENOENT && role != .vault && role != .lock
            return FileReport(
                role: role, path: path, mode: nil,
                problem: isMissing ? nil : StoreError(.io(errno), "\(path) cannot be looked at"))
        }
        do throws(StoreError) {
            try check(info)
            return FileReport(role: role, path: path, mode: info.st_mode & 0o7777, problem: nil)
        } catch {
            return FileReport(role: role, path: path, mode: info.st_mode & 0o7777, problem: error)
        }
    }

    private static func checkSpool(_ info: stat, _ path: String) throws(StoreError) {
        guard info.st_mode & S_IFMT == S_IFDIR else {
            throw VaultFile.unsafe("its spool is not a directory", "remove \(path).spool")
        }
        guard info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
            throw VaultFile.unsafe("others may read or write its spool", "run `chmod 700 \(path).spool`")
        }
    }
}
