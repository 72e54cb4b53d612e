import Glibc
import VaultCrypto
package import VaultStorage

/// The processes of this machine that have a vault open, exactly as its kernel knows them. Each holds a lock on its own
/// file. Files here also hold replies that the vault could not accept, and belong to these processes.
///
/// A missing lock proves that the process has ended only where the lock would be visible: in the file itself rather
/// than a copy (an image of a machine whose service runs), and since this kernel started (another machine on the same
/// network file system has its own locks). So the file identifies itself and the kernel's start.
final class LocalProcesses: Ownership {
    let owner: Int64
    private let directory: String
    private let file: Descriptor

    /// - Parameter directory: writable for this user only.
    init(_ owner: Int64, in directory: String) throws(StoreError) {
        self.owner = owner
        self.directory = directory
        let path = Self.path(of: owner, in: directory)
        let number = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0o600)
        guard number >= 0 else { throw PrivateFile.creationError(errno, path) }
        guard let file = Descriptor(number), file.setLock(start: 0, length: 1) else {
            throw StoreError(.io(errno), "\(path) cannot be locked")
        }
        self.file = file
        let mark = Self.mark(of: file)
        guard unsafe pwrite(number, mark, mark.count, 0) == mark.count else {
            throw StoreError(.io(errno), "\(path) cannot be written")
        }
        forgetEnded()
    }

    /// For the spool: a process creates its file before it has anything to keep.
    func isAlive(_ owner: Int64) -> Bool {
        switch state(of: owner) {
        case .alive: true
        case .ended, .unproven, .unknown: false
        }
    }

    /// Whether a process was here and has ended.
    func hasEnded(_ owner: Int64) -> Bool { state(of: owner) == .ended }

    private enum State {
        case alive, ended
        /// Not locked, which proves nothing.
        case unproven
        /// No process with that name has left anything here.
        case unknown
    }

    private func state(of owner: Int64) -> State {
        if owner == self.owner { return .alive }
        let number = unsafe open(Self.path(of: owner, in: directory), O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else { return errno == ENOENT ? .unknown : .alive }
        guard let other = Descriptor(number) else { return .alive }
        if other.isLockedElsewhere(start: 0, length: 1) ?? true { return .alive }
        let mark = Self.mark(of: other)
        let isProven = !mark.isEmpty && Self.contents(of: number) == mark
        return OwnershipRules.hasEnded(isLocked: false, isProven: isProven) ? .ended : .unproven
    }

    /// Identifies this file and this start of the kernel. Empty if the kernel does not report it.
    private static func mark(of file: Descriptor) -> [UInt8] {
        let boot = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard boot >= 0 else { return [] }
        defer { _ = Glibc.close(boot) }
        let start = contents(of: boot)
        return start.isEmpty ? [] : Array("\(file.identity.device) \(file.identity.inode) ".utf8) + start
    }

    private static func contents(of number: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = unsafe pread(number, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : []
    }

    /// Removes files that processes left when they ended, once no process can ask for them any more.
    func forgetEnded() {
        guard let entries = unsafe opendir(directory) else { return }
        defer { unsafe _ = closedir(entries) }
        while let entry = unsafe readdir(entries) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard name.hasSuffix(Self.suffix), let owner = Int64(name.dropLast(Self.suffix.count)),
                isOld("\(directory)/\(name)"), [.ended, .unproven].contains(state(of: owner))
            else { continue }
            unsafe _ = unlink("\(directory)/\(name)")
        }
    }

    private static let keptFor = 7 * 86_400

    private func isOld(_ path: String) -> Bool {
        var info = stat()
        var now = timespec()
        guard unsafe lstat(path, &info) == 0, unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
        return now.tv_sec - info.st_mtim.tv_sec > Self.keptFor
    }

    /// Shows the other processes that this one no longer has the vault open.
    ///
    /// - Parameter isFinished: whether it left nothing in the vault; otherwise its file stays, to show that it has
    ///   ended.
    func leave(isFinished: Bool) {
        if ForkGuard.isForked { return }
        if isFinished { unsafe _ = unlink(Self.path(of: owner, in: directory)) }
        _ = file.setLock(.unlocked, start: 0, length: 1)
    }

    private static let suffix = ".process"

    private static func path(of owner: Int64, in directory: String) -> String { "\(directory)/\(owner)\(suffix)" }
}

/// The directory of this machine's files for vaults on a server.
package struct StateDirectory: Sendable {
    private let base: String

    /// - Parameter path: its path; nil: the service's state directory from systemd, or the user's own.
    package init(_ path: String?) throws(StoreError) {
        if let path {
            base = path
        } else if let state = Self.variable("STATE_DIRECTORY")?.split(separator: ":").first {
            base = "\(state)/tokenvault"
        } else if let state = Self.variable("XDG_STATE_HOME") {
            base = "\(state)/tokenvault"
        } else if let home = Self.variable("HOME") {
            base = "\(home)/.local/state/tokenvault"
        } else {
            throw StoreError(
                .unsafeFile, "there is no directory for replies that the database server cannot accept",
                hint: "set STATE_DIRECTORY, XDG_STATE_HOME or HOME, or name a directory")
        }
        guard base.hasPrefix("/") else {
            throw StoreError(.invalidValue, "the state directory is not an absolute path: \(base)")
        }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The subdirectory of one vault, created if it is missing.
    func directory(of vault: Bytes16) throws(StoreError) -> String {
        let path = "\(base)/\(Base32.encode(vault))"
        var made = ""
        for part in path.split(separator: "/") {
            made += "/\(part)"
            guard unsafe mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            throw PrivateFile.creationError(errno, made)
        }
        try PrivateFile.checkWay(to: path, of: "the state directory")
        var info = stat()
        guard unsafe lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == geteuid(),
            info.st_mode & 0o077 == 0
        else {
            throw StoreError(
                .unsafeFile, "\(path) is refused: it is not a directory of this user alone",
                hint: "run: chmod 700 \(path)")
        }
        return path
    }
}
