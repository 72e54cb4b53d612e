import CProcess
import Glibc

/// Which file it is, whatever it is called: no other one has the same device and inode while this one is there.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// Of what is at a path, symbolic links not followed; nil if nothing can be found there.
    package init?(path: String) {
        guard let found = FileGlance(path: path) else { return nil }
        self = found.identity
    }

    package init?(descriptor number: Int32) {
        guard let found = FileGlance(descriptor: number) else { return nil }
        self = found.identity
    }

    fileprivate init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// Which file it is, and how long. Costs a file that is written and synced often less than ``FileStatus``, which asks for its
/// times: see `process_file_glance`.
package struct FileGlance: Sendable {
    package let identity: FileIdentity
    package let size: Int64

    /// Of what is at a path, symbolic links not followed; nil if nothing can be found there.
    package init?(path: String) {
        self.init(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW) { status in unsafe lstat(path, &status) }
    }

    init?(descriptor number: Int32) {
        self.init(number, "", process_at_empty_path()) { status in unsafe fstat(number, &status) }
    }

    /// - Parameter otherwise: what to ask in a sandbox that does not know the call.
    private init?(_ directory: Int32, _ path: String, _ flags: Int32, otherwise: (inout stat) -> Int32) {
        var (device, inode, size) = (UInt64(0), UInt64(0), Int64(0))
        if unsafe process_file_glance(directory, path, flags, &device, &inode, &size) == 0 {
            identity = FileIdentity(device: device, inode: inode)
            self.size = size
            return
        }
        var status = stat()
        guard [ENOSYS, EPERM].contains(errno), otherwise(&status) == 0 else { return nil }
        identity = FileIdentity(status)
        self.size = Int64(status.st_size)
    }
}
