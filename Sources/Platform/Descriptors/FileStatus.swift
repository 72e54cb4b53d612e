import Glibc
import SystemPackage

/// What the system says of a file.
package struct FileStatus: Sendable {
    package enum Kind: Sendable {
        case regular, directory, symbolicLink, pipe, socket
        /// A device, or something that only this system has.
        case other
    }

    package let kind: Kind
    package let owner: UserID
    /// The lower twelve bits of the mode: who may do what, and the sticky bit.
    package let permissions: UInt32
    package let size: Int64
    /// How many names it has; 0 if it was removed while it is open.
    package let linkCount: UInt64
    package let identity: FileIdentity
    /// Milliseconds since 1970.
    package let modifiedAt: Int64

    private init(_ status: Stat) {
        kind =
            switch status.type {
            case .regular: .regular
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .fifo: .pipe
            case .socket: .socket
            default: .other
            }
        let raw = status.rawValue
        owner = UserID(raw.st_uid)
        permissions = raw.st_mode & 0o7777
        size = Int64(raw.st_size)
        linkCount = UInt64(raw.st_nlink)
        identity = FileIdentity(raw)
        modifiedAt = Int64(raw.st_mtim.tv_sec) * 1000 + Int64(raw.st_mtim.tv_nsec) / 1_000_000
    }

    /// Of what is at a path.
    ///
    /// - Parameter followingLinks: whether a symbolic link stands for what it leads to.
    package init(at path: String, followingLinks: Bool = false) throws(SystemError) {
        let status: Stat
        do throws(Errno) { status = try unsafe Stat(path, followTargetSymlink: followingLinks) } catch {
            throw SystemError(error.rawValue)
        }
        self.init(status)
    }

    /// Of what has this name in an open directory, symbolic links not followed.
    init(of name: String, in directory: some OpenDescriptor) throws(SystemError) {
        let status: Stat
        do throws(Errno) {
            status = try unsafe Stat(
                name, relativeTo: FileDescriptor(rawValue: directory.number), flags: .symlinkNoFollow)
        } catch {
            throw SystemError(error.rawValue)
        }
        self.init(status)
    }

    init(descriptor number: Int32) throws(SystemError) {
        let status: Stat
        do throws(Errno) { status = try Stat(FileDescriptor(rawValue: number)) } catch {
            throw SystemError(error.rawValue)
        }
        self.init(status)
    }

    /// Whether it belongs to the user whose rights this process has.
    package var isOurs: Bool { owner == .current }
    /// Whether it belongs to this user or to root, who can do anything anyway.
    package var isOursOrRoots: Bool { isOurs || owner.isRoot }
    /// A directory in which each user can replace their own files alone, as in `/tmp`.
    package var isSticky: Bool { permissions & UInt32(S_ISVTX) != 0 }
}
