import Platform
package import VaultStorage

extension SQLiteVaultStore {
    /// The kind of file system was checked at the opening; proving it would write.
    package func files() -> [FileReport] {
        var reports = Self.files(at: database.path, trustsFileSystem: true, provesFileSystem: false)
        guard readOnlyRefusal == nil, !reports.contains(where: { $0.problem != nil }),
            let place = reports.firstIndex(where: { $0.role == .vault })
        else { return reports }
        // Files that are as they should be may be others than those that this process has open.
        do throws(StoreError) { try self.place.checkNames() } catch {
            let report = reports[place]
            reports[place] = FileReport(role: .vault, path: report.path, mode: report.mode, problem: error)
        }
        return reports
    }

    /// The files of a vault that need not be open. If a directory is missing, so is everything in it.
    ///
    /// - Parameters:
    ///   - trustsFileSystem: whether a file system that is not known to be local is acceptable.
    ///   - provesFileSystem: whether to test it, which writes a nameless file. False for an open vault.
    package static func files(
        at path: String, trustsFileSystem: Bool = false, provesFileSystem: Bool = true
    ) -> [FileReport] {
        let file = try? VaultFile(path, trustsFileSystem: trustsFileSystem)
        let path = file?.path ?? path
        var reports: [FileReport] = []
        if let file {
            if provesFileSystem { reports.append(fileSystem(of: file)) }
            reports.append(report(.directory, file.parent) { _ throws(StoreError) in try file.checkDirectoryAccess() })
        }
        let files: [(FileReport.Role, String)] = [
            (.vault, path), (.wal, path + "-wal"), (.sharedMemory, path + "-shm"), (.lock, path + ".lock"),
        ]
        // The opening makes the lock file, and a read-only store has none.
        let isOpen = !provesFileSystem
        let needed: FileReport.Role = isOpen && file?.readOnlyRefusal == nil ? .lock : .vault
        for (role, path) in files {
            reports.append(
                report(role, path, needed: needed) { status throws(StoreError) in try PrivateFile.check(status, path) })
        }
        if let file {
            reports.append(report(.spool, file.spoolPath) { status throws(StoreError) in try file.checkSpool(status) })
        }
        return reports
    }

    private static func fileSystem(of file: VaultFile) -> FileReport {
        var problem: StoreError?
        do throws(StoreError) {
            try file.checkFileSystem()
            try file.proveFileSystem()
            if !file.isMountedReadOnly { try file.checkRoom() }
        } catch {
            problem = error
        }
        return FileReport(
            role: .fileSystem, path: file.parent, mode: nil, problem: problem,
            detail: FileSystem(of: file.parent).name + (file.isMountedReadOnly ? ", mounted read-only" : ""))
    }

    /// Checks the file by name and never opens it: closing one of these would drop SQLite's locks.
    private static func report(
        _ role: FileReport.Role, _ path: String, needed: FileReport.Role = .vault,
        _ check: (FileStatus) throws(StoreError) -> Void
    ) -> FileReport {
        let status: FileStatus
        do throws(SystemError) { status = try FileStatus(at: path) } catch {
            let mayBeMissing = role != .vault && role != needed
            let words = error == .notFound ? "does not exist" : "cannot be looked at"
            return FileReport(
                role: role, path: path, mode: nil,
                problem: error == .notFound && mayBeMissing ? nil : StoreError(.io(error), "\(path) \(words)"))
        }
        do throws(StoreError) {
            try check(status)
            return FileReport(role: role, path: path, mode: status.permissions, problem: nil)
        } catch {
            return FileReport(role: role, path: path, mode: status.permissions, problem: error)
        }
    }
}
