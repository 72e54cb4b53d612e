import Glibc

/// The mounted file system that a directory is on.
package struct Volume: Sendable {
    package let isReadOnly: Bool
    /// What this user can still write; nil if the file system does not say.
    package let freeByteCount: UInt64?

    /// Nil if the system does not say.
    package init?(of directory: String) {
        var info = statvfs()
        guard unsafe statvfs(directory, &info) == 0 else { return nil }
        isReadOnly = info.f_flag & UInt(ST_RDONLY) != 0
        let blocks = UserID.current.isRoot ? info.f_bfree : info.f_bavail
        freeByteCount = info.f_blocks > 0 ? UInt64(blocks) * UInt64(info.f_frsize) : nil
    }
}
