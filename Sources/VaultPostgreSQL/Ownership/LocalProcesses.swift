import Platform
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
    private let file: GuardedDescriptor

    /// - Parameter directory: writable for this user only.
    init(_ owner: Int64, in directory: String) throws(StoreError) {
        self.owner = owner
        self.directory = directory
        let path = Self.path(of: owner, in: directory)
        do throws(SystemError) { file = try GuardedDescriptor(path, [.createNew, .notThroughLink]) } catch {
            throw PrivateFile.creationError(error, path)
        }
        do throws(SystemError) { try file.lock(start: 0, length: 1) } catch {
            throw StoreError(.io(error), "\(path) cannot be locked")
        }
        let mark = Self.mark(of: file)
        do throws(SystemError) {
            guard try file.write(mark, at: 0) == mark.count else { throw .noSpace }
        } catch {
            throw StoreError(.io(error), "\(path) cannot be written")
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
        let other: GuardedDescriptor
        do throws(SystemError) {
            other = try GuardedDescriptor(Self.path(of: owner, in: directory), .notThroughLink)
        } catch {
            return error == .notFound ? .unknown : .alive
        }
        if other.isLockedElsewhere(start: 0, length: 1) ?? true { return .alive }
        let mark = Self.mark(of: other)
        let isProven = !mark.isEmpty && Self.contents(of: other) == mark
        return OwnershipRules.hasEnded(isLocked: false, isProven: isProven) ? .ended : .unproven
    }

    /// Identifies this file and this start of the kernel. Empty if the kernel does not report it.
    private static func mark(of file: GuardedDescriptor) -> [UInt8] {
        let start = Machine.startMark
        return start.isEmpty ? [] : Array("\(file.identity.device) \(file.identity.inode) ".utf8) + start
    }

    private static func contents(of file: GuardedDescriptor) -> [UInt8] { (try? file.read(atMost: 128, at: 0)) ?? [] }

    /// Removes files that processes left when they ended, once no process can ask for them any more.
    func forgetEnded() {
        for name in (try? Directory.names(in: directory)) ?? [] {
            guard name.hasSuffix(Self.suffix), let owner = Int64(name.dropLast(Self.suffix.count)),
                isOld("\(directory)/\(name)"), [.ended, .unproven].contains(state(of: owner))
            else { continue }
            NamedFile("\(directory)/\(name)").discard()
        }
    }

    private static let keptFor: Int64 = 7 * 86_400

    private func isOld(_ path: String) -> Bool {
        guard let status = try? FileStatus(at: path), let now = WallClock.seconds else { return false }
        return now - status.modifiedAt / 1000 > Self.keptFor
    }

    /// Shows the other processes that this one no longer has the vault open.
    ///
    /// - Parameter isFinished: whether it left nothing in the vault; otherwise its file stays, to show that it has
    ///   ended.
    func leave(isFinished: Bool) {
        if ForkGuard.isForked { return }
        if isFinished { NamedFile(Self.path(of: owner, in: directory)).discard() }
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
        } else if let state = ProcessEnvironment.nonEmptyValue(of: "STATE_DIRECTORY")?.split(separator: ":").first {
            base = "\(state)/tokenvault"
        } else if let state = ProcessEnvironment.nonEmptyValue(of: "XDG_STATE_HOME") {
            base = "\(state)/tokenvault"
        } else if let home = ProcessEnvironment.nonEmptyValue(of: "HOME") {
            base = "\(home)/.local/state/tokenvault"
        } else {
            throw StoreError(
                .unsafeFile, "there is no directory for replies that the database server cannot accept",
                hint: PrivateFile.adviceForStateDirectory)
        }
        guard base.hasPrefix("/") else {
            throw StoreError(
                .invalidValue, "the state directory is not an absolute path: \(base)",
                hint: PrivateFile.adviceForStateDirectory)
        }
    }

    /// The subdirectory of one vault, created if it is missing.
    func directory(of vault: Bytes16) throws(StoreError) -> String {
        let path = "\(base)/\(Base32.encode(vault))"
        if let missing = NamedFile(path).makeDirectories() {
            let error = PrivateFile.creationError(missing.error, missing.path)
            guard case .io = error.code else { throw error }
            throw StoreError(error.code, error.message, hint: PrivateFile.adviceForStateDirectory)
        }
        try PrivateFile.checkWay(to: path, of: "the state directory")
        guard let status = try? FileStatus(at: path), status.kind == .directory, status.isOurs,
            status.permissions & 0o077 == 0
        else {
            throw StoreError(
                .unsafeFile, "\(path) is refused: it is not a directory of this user alone",
                hint: "run: chmod 700 \(path)")
        }
        return path
    }
}
