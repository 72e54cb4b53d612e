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
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    package init?(descriptor number: Int32) {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { return nil }
        self.init(status)
    }
}
